#include "worker/tune/compile/compiler_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/worker/tune/compile/fake_compiler.h"
#include "tests/worker/tune/compile/pool_fixture.h"
#include "worker/tune/compile/compile_pool.h"

namespace telemetry::worker::tune::compile {
namespace {

using absl::StatusCode;

bool HasChildren() { return waitpid(-1, nullptr, WNOHANG) == 0; }

// Two pools, as of the attempts on two devices, that share the compilers of a group.
class CompilerGroupTest : public testing::Test {
 protected:
  void Start(int processes, absl::Duration time_limit = absl::Seconds(60)) {
    group_ = CompilerGroup::Create({.program = FakeCompiler()}, processes).value();
    for (std::unique_ptr<CompilePool>* pool : {&first_, &second_}) {
      *pool = CompilePool::Create({.compilers = group_, .time_limit = time_limit}).value();
    }
  }

  // Queues a source that no other job has.
  std::future<CompileResult> Submit(CompilePool* pool, const std::string& source) {
    return pool->Submit({.source = source, .target = absl::StrCat("sm_", ++jobs_)});
  }

  std::shared_ptr<CompilerGroup> group_;
  std::unique_ptr<CompilePool> first_;
  std::unique_ptr<CompilePool> second_;
  int jobs_ = 0;
};

TEST_F(CompilerGroupTest, PoolsShareTheProcesses) {
  Start(2);
  EXPECT_EQ(first_->processes(), 2);
  std::vector<std::future<CompileResult>> results;
  for (int i = 0; i < 20; ++i) {
    results.push_back(Submit(first_.get(), "one"));
    results.push_back(Submit(second_.get(), "two"));
  }
  std::set<pid_t> processes;
  for (std::future<CompileResult>& result : results) processes.insert(PidIn(result.get().code->binary));
  EXPECT_LE(processes.size(), 2U);
  EXPECT_EQ(first_->stats().compiled, 20);
  EXPECT_EQ(second_->stats().compiled, 20);
}

TEST_F(CompilerGroupTest, APoolWithFewSourcesDoesNotWaitForAllOfTheOther) {
  Start(1, absl::Milliseconds(100));
  for (int i = 0; i < 20; ++i) Submit(first_.get(), "hang");
  for (int i = 0; i < 3; ++i) Submit(second_.get(), "hang");
  second_->Drain();
  EXPECT_EQ(second_->stats().timeouts, 3);
  EXPECT_LE(first_->stats().timeouts, 10) << "the pools take turns";
  EXPECT_GE(first_->stats().timeouts, 1) << "the other pool has its share, too";
  first_->Drain();
  EXPECT_EQ(first_->stats().timeouts, 20);
}

TEST_F(CompilerGroupTest, ACrashOrHangCostsOneResultOfItsOwnPool) {
  Start(2, absl::Seconds(1));
  std::vector<std::future<CompileResult>> bad;
  std::vector<std::future<CompileResult>> good;
  for (const char* source : {"crash", "hang", "quit", "garbage"}) {
    bad.push_back(Submit(first_.get(), source));
    good.push_back(Submit(first_.get(), "good"));
    good.push_back(Submit(second_.get(), "good"));
  }
  for (std::future<CompileResult>& result : bad) EXPECT_FALSE(result.get().code.ok());
  for (std::future<CompileResult>& result : good) EXPECT_TRUE(result.get().code.ok());
  EXPECT_EQ(first_->stats().crashes, 3);
  EXPECT_EQ(first_->stats().timeouts, 1);
  EXPECT_EQ(second_->stats().compiled, 4);
}

TEST_F(CompilerGroupTest, APoolThatIsCancelledOrEndsLeavesTheOtherAlone) {
  Start(2);
  for (int round = 0; round < 10; ++round) {
    std::vector<std::future<CompileResult>> cancelled;
    for (int i = 0; i < 5; ++i) cancelled.push_back(Submit(first_.get(), i < round ? "hang" : "one"));
    std::future<CompileResult> kept = Submit(second_.get(), "two");
    if (round % 2 == 0) {
      first_->Cancel();
    } else {
      first_ = CompilePool::Create({.compilers = group_}).value();
    }
    EXPECT_TRUE(kept.get().code.ok());
    for (std::future<CompileResult>& result : cancelled) {
      EXPECT_THAT(ResultCode(result.get()), testing::AnyOf(StatusCode::kOk, StatusCode::kCancelled));
    }
  }
  EXPECT_EQ(second_->stats().compiled, 10);
}

TEST_F(CompilerGroupTest, ProcessesCanBeStartedBeforeThereIsWork) {
  Start(2);
  EXPECT_FALSE(HasChildren());
  group_->Prewarm({.source = "warm", .target = "sm_90"}, absl::Seconds(60));
  while (!HasChildren()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(Submit(first_.get(), "one").get().code.ok());
  EXPECT_EQ(first_->stats().submitted, 1) << "the source of the start is no job of a pool";
}

TEST_F(CompilerGroupTest, ASourceThatHangsAtTheStartDoesNotOutliveTheGroup) {
  Start(2);
  group_->Prewarm({.source = "hang", .target = "sm_90"}, absl::InfiniteDuration());
  while (!HasChildren()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  first_.reset();
  second_.reset();
  group_.reset();
  EXPECT_FALSE(HasChildren());
}

TEST(CompilerGroupOptionsTest, OutOfRange) {
  EXPECT_EQ(CompilerGroup::Create({}, -1).status().code(), StatusCode::kInvalidArgument);
  EXPECT_GE(CompilerGroup::Create({}, 0).value()->processes(), 1);
}

}  // namespace
}  // namespace telemetry::worker::tune::compile
