#include "worker/tune/compile/compile_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "tests/worker/tune/compile/fake_compiler.h"
#include "tests/worker/tune/compile/pool_fixture.h"
#include "tests/worker/tune/open_fds.h"

namespace telemetry::worker::tune::compile {
namespace {

using absl::StatusCode;
using testing::AllOf;
using testing::HasSubstr;

bool HasNoChildren() { return waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

// Tests the pool with compiler processes that behave as the source says.
class CompilePoolTest : public PoolTest {
 protected:
  void StartFakes(int processes, absl::Duration time_limit = absl::Seconds(60)) {
    StartPool({.program = FakeCompiler(), .processes = processes, .time_limit = time_limit});
  }
  void SubmitSource(const std::string& source) { Submit({.source = source, .target = "sm_90"}); }
};

TEST_F(CompilePoolTest, GivesWhatTheCompilerMade) {
  StartFakes(1);
  SubmitSource("one");
  SubmitSource("refuse");
  const std::vector<CompileResult> results = Results();
  EXPECT_THAT(results[0].code->binary, HasSubstr("one:"));
  EXPECT_EQ(results[0].log(), "a remark");
  EXPECT_EQ(results[0].seconds, 0.5);
  EXPECT_EQ(ResultCode(results[1]), StatusCode::kInvalidArgument);
  EXPECT_EQ(results[1].log(), "line 1: refused");
  EXPECT_EQ(pool_->stats().compiled, 1);
  EXPECT_EQ(pool_->stats().refused, 1);
  EXPECT_EQ(pool_->stats().busy_seconds, 1.0);
}

TEST_F(CompilePoolTest, EqualJobsAreCompiledOnce) {
  StartFakes(2);
  for (int i = 0; i < 2; ++i) SubmitSource("same");
  SubmitSource("other");
  Submit({.source = "same", .target = "sm_80"});
  Submit({.source = "same", .dialect = device::Dialect::kOpenCl, .target = "sm_90"});
  pool_->Drain();
  SubmitSource("same");
  const std::vector<CompileResult> results = Results();
  std::vector<bool> deduplicated;
  for (const CompileResult& result : results) deduplicated.push_back(result.deduplicated);
  EXPECT_THAT(deduplicated, testing::ElementsAre(false, true, false, false, false, true));
  EXPECT_EQ(results[5].code->binary, results[0].code->binary);
  EXPECT_GT(results[0].seconds, 0);
  EXPECT_EQ(results[5].seconds, results[0].seconds);
  const CompilePoolStats stats = pool_->stats();
  EXPECT_EQ(stats.submitted, 6);
  EXPECT_EQ(stats.unique_sources, 4);
  EXPECT_EQ(stats.deduplicated, 2);
}

TEST_F(CompilePoolTest, AJobThatIsSubmittedFirstOvertakes) {
  StartFakes(1, absl::Seconds(1));
  std::vector<std::string> order;  // written by the pool's one callback thread
  const auto submit = [&](const std::string& source) {
    pool_->Submit({.source = source, .target = "sm_90"},
                  [&order, source](const CompileResult&) { order.push_back(source); });
  };
  for (const char* source : {"hang", "one", "two", "three"}) submit(source);
  std::future<CompileResult> equal = pool_->SubmitFirst({.source = "two", .target = "sm_90"});
  std::future<CompileResult> urgent = pool_->SubmitFirst({.source = "urgent", .target = "sm_90"});
  EXPECT_TRUE(urgent.get().code.ok());
  pool_->Drain();
  // The compiler may have taken "hang" only after the urgent jobs.
  order.erase(std::find(order.begin(), order.end(), "hang"));
  EXPECT_THAT(order, testing::ElementsAre("two", "one", "three")) << "an equal job gets the place";
  EXPECT_TRUE(equal.get().deduplicated);
}

TEST_F(CompilePoolTest, ACrashCostsOneJobAndIsNamed) {
  StartFakes(1);
  for (const char* source : {"before", "crash", "quit", "garbage", "after"}) SubmitSource(source);
  const std::vector<CompileResult> results = Results();
  EXPECT_TRUE(results[0].code.ok());
  EXPECT_EQ(ResultCode(results[1]), StatusCode::kInternal);
  EXPECT_THAT(results[1].log(), AllOf(HasSubstr("SIGSEGV"), HasSubstr("internal compiler error"), HasSubstr("sm_90")));
  EXPECT_EQ(ResultCode(results[2]), StatusCode::kInternal);
  EXPECT_THAT(results[2].log(), HasSubstr("exited with status 7"));
  EXPECT_EQ(ResultCode(results[3]), StatusCode::kInternal);
  EXPECT_TRUE(results[4].code.ok());
  EXPECT_NE(PidIn(results[0].code->binary), PidIn(results[4].code->binary));
  EXPECT_EQ(pool_->stats().crashes, 3);
}

TEST_F(CompilePoolTest, ASourceThatCrashesTheCompilerDoesSoOnce) {
  StartFakes(2);
  for (int i = 0; i < 3; ++i) SubmitSource("crash");
  for (const CompileResult& result : Results()) EXPECT_EQ(ResultCode(result), StatusCode::kInternal);
  EXPECT_EQ(pool_->stats().crashes, 1);
}

// The fake compiler reports 0.5 s for each source.
TEST_F(CompilePoolTest, ASourceThatNeedsMuchLongerThanTheOthersIsEnded) {
  StartPool({.program = FakeCompiler(), .processes = 1, .ends_stragglers = true});
  for (int i = 0; i < 8; ++i) Submit({.source = absl::StrCat("source ", i)});
  EXPECT_EQ(Results().size(), 8u);
  Submit({.source = "hang"});
  Submit({.source = "another"});
  const std::vector<CompileResult> results = Results();
  EXPECT_EQ(results[8].code.status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(results[8].code.status().message()), HasSubstr("the time limit of 1.5s"));
  EXPECT_TRUE(results[9].code.ok());
}

// The first sources begin before the times of several are known.
TEST_F(CompilePoolTest, ASourceThatBeganBeforeTheOthersIsEndedToo) {
  StartPool({.program = FakeCompiler(), .processes = 2, .ends_stragglers = true});
  Submit({.source = "hang"});
  for (int i = 0; i < 8; ++i) Submit({.source = absl::StrCat("source ", i)});
  const CompileResult hanging = Results()[0];
  EXPECT_EQ(hanging.code.status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_LT(hanging.seconds, 30) << "not after the limit of 60 s that the source began with";
  EXPECT_THAT(std::string(hanging.code.status().message()), HasSubstr("the time limit of 2.25s"))
      << "longer than that of others";
}

TEST_F(CompilePoolTest, ATimeLimitEndsACompilerAndTheQueueGoesOn) {
  StartFakes(1, absl::Milliseconds(300));
  for (const char* source : {"hang", "after"}) SubmitSource(source);
  const std::vector<CompileResult> results = Results();
  EXPECT_EQ(ResultCode(results[0]), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(results[0].log(), HasSubstr("the time limit of 300ms"));
  EXPECT_GE(results[0].seconds, 0.3);
  EXPECT_EQ(pool_->stats().timeouts, 1);
}

TEST_F(CompilePoolTest, AnIdleCompilerThatDiedCostsNoJob) {
  StartFakes(1);
  SubmitSource("one");
  const pid_t pid = PidIn(Results()[0].code->binary);
  ASSERT_EQ(kill(pid, SIGKILL), 0);
  siginfo_t info = {};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
  SubmitSource("two");
  EXPECT_NE(PidIn(Results()[1].code->binary), pid);
}

TEST_F(CompilePoolTest, ProcessesStartWhenThereIsWorkForThem) {
  StartFakes(3);
  EXPECT_TRUE(HasNoChildren());
  std::set<pid_t> pids;
  for (int i = 0; i < 10; ++i) {
    SubmitSource(absl::StrCat("source ", i));
    pids.insert(PidIn(Results().back().code->binary));
  }
  EXPECT_EQ(pids.size(), 1U);
  for (int i = 10; i < 100; ++i) SubmitSource(absl::StrCat("source ", i));
  for (const CompileResult& result : Results()) pids.insert(PidIn(result.code->binary));
  EXPECT_LE(pids.size(), 3U);
}

TEST_F(CompilePoolTest, WhereNoProcessCanBeStartedJobsSaySo) {
  StartPool({.program = {.path = "/nowhere/compiler"}, .processes = 2});
  for (int i = 0; i < 2; ++i) SubmitSource("one");
  for (const CompileResult& result : Results()) {
    EXPECT_EQ(ResultCode(result), StatusCode::kUnavailable);
    EXPECT_THAT(result.log(), HasSubstr("/nowhere/compiler"));
  }
  // The second job shares the failure of the first one, or comes after it and tries again.
  EXPECT_THAT(pool_->stats().unavailable, testing::AnyOf(1, 2));
}

TEST_F(CompilePoolTest, CallbacksMaySubmit) {
  StartFakes(1);
  absl::Notification done;
  pool_->Submit({.source = "first"}, [&](const CompileResult& first) {
    EXPECT_TRUE(first.code.ok());
    pool_->Submit({.source = "second"}, [&](const CompileResult& second) {
      EXPECT_TRUE(second.code.ok());
      pool_->Submit({.source = "first"}, [&](const CompileResult& again) {
        EXPECT_TRUE(again.deduplicated);
        done.Notify();
      });
    });
  });
  done.WaitForNotification();
}

TEST_F(CompilePoolTest, CancelEndsWhatIsUnderWayAndOnlyThat) {
  StartFakes(2);
  SubmitSource("before");
  pool_->Drain();
  for (int i = 0; i < 2; ++i) SubmitSource("hang");
  for (int i = 0; i < 20; ++i) SubmitSource(absl::StrCat("hang"));
  pool_->Cancel();
  SubmitSource("after");
  const std::vector<CompileResult> results = Results();
  EXPECT_TRUE(results.front().code.ok());
  EXPECT_TRUE(results.back().code.ok());
  for (size_t i = 1; i + 1 < results.size(); ++i) EXPECT_EQ(ResultCode(results[i]), StatusCode::kCancelled);
}

TEST_F(CompilePoolTest, TheEndOfAPoolCancels) {
  const int fds = OpenFds();
  for (int round = 0; round < 20; ++round) {
    StartFakes(2);
    for (int i = 0; i < round; ++i) SubmitSource(i % 3 == 0 ? "hang" : i % 3 == 1 ? "crash" : absl::StrCat(i));
    pool_.reset();
    EXPECT_TRUE(HasNoChildren());
  }
  for (const CompileResult& result : OneResultEach()) {
    EXPECT_THAT(ResultCode(result), testing::AnyOf(StatusCode::kOk, StatusCode::kInternal, StatusCode::kCancelled));
  }
  EXPECT_EQ(OpenFds(), fds);
}

TEST_F(CompilePoolTest, ManyThreadsSubmit) {
  StartFakes(2);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      for (int i = 0; i < 250; ++i) SubmitSource(absl::StrCat("source ", i % 50));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const CompileResult& result : Results()) EXPECT_TRUE(result.code.ok());
  EXPECT_EQ(pool_->stats().unique_sources, 50);
  EXPECT_EQ(pool_->stats().deduplicated, 950);
}

TEST(CompilePoolOptionsTest, OutOfRange) {
  EXPECT_EQ(CompilePool::Create({.processes = -1}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(CompilePool::Create({.time_limit = absl::ZeroDuration()}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_GE(CompilePool::Create({}).value()->processes(), 1);
}

}  // namespace
}  // namespace telemetry::worker::tune::compile
