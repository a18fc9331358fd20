#include "server/web/summary/refresher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "proto/record/ids.h"
#include "tests/server/web/web_story.h"

namespace telemetry::web::summary {
namespace {

using storage::AttemptRecord;
using storage::ConfigRecord;
using storage::Row;
using storage::RunId;
using storage::RunRecord;
using Stage = v1::MeasurementDetail;

v1::Record Final(char attempt, uint64_t seq, const std::vector<double>& samples) {
  v1::Record record;
  v1::MeasurementDetail& detail = *record.mutable_measurement_detail();
  detail.set_attempt_id(storage::AttemptId(attempt));
  detail.set_seq(seq);
  detail.set_stage(Stage::STAGE_FINAL);
  for (const double sample : samples) detail.add_samples_ms(sample);
  return record;
}

v1::Record Failed(char attempt, uint64_t seq, uint64_t config) {
  v1::Record record = Row(attempt, seq, 1, config);
  record.mutable_measurement()->set_status("error");
  record.mutable_measurement()->clear_perf_ms();
  return record;
}

v1::Record State(char attempt, char run, v1::Attempt::State state) {
  v1::Record record = AttemptRecord(attempt, run);
  record.mutable_attempt()->set_state(state);
  return record;
}

class RefresherTest : public ::testing::Test {
 protected:
  // Returns members of the run's answer, separated by spaces.
  std::string Run(char run, const std::vector<std::string>& members, const std::string& query = "") {
    story_.Refresh();
    const auto answer = story_.Ask(absl::StrCat("runs/", RunId(run), query));
    if (!answer.ok()) return absl::StatusCodeToString(answer.status().code());
    std::string text;
    for (const std::string& member : members) absl::StrAppend(&text, text.empty() ? "" : " ", At(*answer, member));
    return text;
  }
  // Returns kernel, attempts, rows, and the best time of all runs.
  std::vector<std::string> Runs() {
    story_.Refresh();
    std::vector<std::string> runs;
    const auto answer = story_.Ask("runs?sort=kernel");
    EXPECT_TRUE(answer.ok()) << answer.status();
    for (const record::Json& item : answer->Find("items")->items) {
      runs.push_back(absl::StrCat(At(item, "kernel.label"), " ", At(item, "sender"), " ", At(item, "attempts"), " ",
                                  At(item, "rows"), " ", At(item, "best_ms")));
    }
    return runs;
  }

  WebStory story_;
};

TEST_F(RefresherTest, AnEmptyDatasetIsComplete) {
  story_.Refresh();
  EXPECT_TRUE(story_.progress().complete);
  EXPECT_EQ(story_.progress().total_attempts, 0);
  EXPECT_THAT(Runs(), testing::IsEmpty());
  story_.Send({RunRecord('a'), AttemptRecord('A', 'a'), Row('A', 1, 2.5)});
  EXPECT_THAT(Runs(), testing::ElementsAre(R"("softmax" null 1 1 2.5)"));
}

TEST_F(RefresherTest, SummarisesAnAttempt) {
  v1::Record compiled = Row('A', 1, 2, 1);
  compiled.mutable_measurement()->set_compile_time_s(0.5);
  story_.Send({RunRecord('a'), AttemptRecord('A', 'a'), compiled, Failed('A', 2, 2), Row('A', 3, 1.5, 3),
               Row('A', 4, 1.6, 3), Row('A', 5, 1.25, 4), Row('A', 6, 1.75, 1), Row('A', 7, 1.0, 3),
               Final('A', 7, {0.8, 1.0, 1.2, 1.0})});
  EXPECT_EQ(Run('a', {"rows", "configs", "failed", "best_ms", "default_ms", "speedup", "spread"}),
            "7 4 1 1 1.75 1.75 null");
  // Quantiles of the samples: 0.95, 1, 1.05.
  const auto run = story_.Ask(absl::StrCat("runs/", RunId('a')));
  EXPECT_NEAR(std::stod(At(*run, "noise")), 0.1, 1e-12);
  const std::string attempt = absl::StrCat("attempts/", AttemptHex('A'));
  EXPECT_EQ(story_.Value(attempt, "best_stage"), "\"final\"");
  EXPECT_EQ(story_.Value(attempt, "duration_s"), "1.75");
  EXPECT_EQ(story_.Value(attempt, "last_improvement_s"), "1.25");  // of the row 5
  EXPECT_EQ(story_.Value(attempt, "last_improvement_config"), "4");
  EXPECT_EQ(story_.Value(attempt, "compile_s"), "0.5");
}

TEST_F(RefresherTest, ScreenedAndImpossibleTimesAreNotTheBest) {
  v1::Record screened = Final('A', 1, {});
  screened.mutable_measurement_detail()->set_stage(Stage::STAGE_SCREENING);
  story_.Send({RunRecord('a'), AttemptRecord('A', 'a'), Row('A', 1, 0.5, 1), screened, Row('A', 2, 3, 2),
               Row('A', 3, -1, 3), Row('A', 4, 0, 4)});
  EXPECT_EQ(Run('a', {"best_ms", "default_ms"}), "3 null");
}

TEST_F(RefresherTest, FollowsAGrowingAttempt) {
  story_.Send({RunRecord('a'), State('A', 'a', v1::Attempt::STATE_OPEN), Row('A', 1, 3)});
  EXPECT_EQ(Run('a', {"rows", "best_ms", "open_attempts", "state"}), "1 3 1 \"open\"");
  story_.Send({Row('A', 2, 2)});
  EXPECT_EQ(Run('a', {"rows", "best_ms"}), "2 2");
  story_.Send({Final('A', 1, {1, 2, 3})});  // a detail alone
  EXPECT_EQ(Run('a', {"rows", "best_ms"}), "2 3");
  story_.Send({State('A', 'a', v1::Attempt::STATE_COMPLETE)});
  EXPECT_EQ(Run('a', {"open_attempts", "state"}), "0 \"complete\"");
}

TEST_F(RefresherTest, ForgetsRemovedAttemptsAndReusesTheirKeys) {
  v1::Record other = RunRecord('b');
  other.mutable_run()->set_kernel_name("other");
  story_.Send({RunRecord('a'), AttemptRecord('A', 'a'), AttemptRecord('B', 'a'), Row('A', 1, 1), Row('B', 1, 2)});
  EXPECT_THAT(Runs(), testing::ElementsAre(R"("softmax" null 2 2 1)"));
  story_.Remove('A');
  EXPECT_THAT(Runs(), testing::ElementsAre(R"("softmax" null 1 1 2)"));
  story_.Remove('B');
  story_.Send({other, AttemptRecord('C', 'b'), Row('C', 1, 3)});
  EXPECT_THAT(Runs(), testing::ElementsAre(R"("other" null 1 1 3)"));
  EXPECT_EQ(Run('a', {"rows"}), "NOT_FOUND");
  EXPECT_EQ(Run('b', {"run_id"}), absl::StrCat("\"", RunId('b'), "\""));
  EXPECT_EQ(story_.progress().done_attempts, 1);
}

TEST_F(RefresherTest, ReplacesAViewWhoseRunWasNotKnown) {
  v1::Record unknown = AttemptRecord('A', 'a');
  const std::string stand_in = record::UnknownRunId(storage::AttemptId('A'));
  unknown.mutable_attempt()->set_run_id(stand_in);
  unknown.mutable_attempt()->set_provisional(true);
  story_.Send({unknown});
  story_.Refresh();
  EXPECT_EQ(story_.Value(absl::StrCat("runs/", stand_in), "attempts"), "1");
  v1::Record known = AttemptRecord('B', 'a');
  known.mutable_attempt()->add_supersedes(storage::AttemptId('A'));
  story_.Send({RunRecord('a'), known, Row('B', 1, 2)});
  EXPECT_THAT(Runs(), testing::ElementsAre(R"("softmax" null 1 1 2)"));
  EXPECT_EQ(story_.Code(absl::StrCat("runs/", stand_in)), absl::StatusCode::kNotFound);
}

TEST_F(RefresherTest, ReplacesShorterViewsOfAnAttempt) {
  v1::Record shorter = AttemptRecord('A', 'a');
  shorter.mutable_attempt()->set_provisional(true);
  story_.Send({RunRecord('a'), shorter, Row('A', 1, 2)});
  EXPECT_THAT(Runs(), testing::ElementsAre(R"("softmax" null 1 1 2)"));
  v1::Record longer = AttemptRecord('B', 'a');
  longer.mutable_attempt()->add_supersedes(storage::AttemptId('A'));
  story_.Send({longer, Row('B', 1, 2), Row('B', 2, 1)});
  EXPECT_THAT(Runs(), testing::ElementsAre(R"("softmax" null 1 2 1)"));
  EXPECT_EQ(story_.progress().done_attempts, 1);
}

TEST_F(RefresherTest, TakesADescriptionThatArrivesLater) {
  story_.Send({AttemptRecord('A', 'a'), Row('A', 1, 1)});
  EXPECT_EQ(Run('a', {"kernel.label", "kernel.filter", "version"}), "null \"null:\" null");
  story_.Send({RunRecord('a')});
  EXPECT_EQ(Run('a', {"kernel.label", "hardware.label"}), "\"softmax\" \"NVIDIA H200\"");
  EXPECT_EQ(story_.Value("kernels", "items.0.kernel.label"), "\"softmax\"");
}

TEST_F(RefresherTest, KeepsTheAttemptsOfTwoSendersApart) {
  story_.Send({RunRecord('a'), AttemptRecord('A', 'a'), Row('A', 1, 2)});
  v1::Record lying = RunRecord('a');
  lying.mutable_run()->set_kernel_name("another");
  story_.Send({lying, AttemptRecord('B', 'a'), Row('B', 1, 1), Row('B', 2, 5)}, "ci");
  EXPECT_THAT(Runs(), testing::ElementsAre(R"("another" "ci" 1 2 1)", R"("softmax" null 1 1 2)"));
  EXPECT_EQ(Run('a', {"attempts", "rows", "best_ms", "senders"}), R"(2 3 1 [null, "ci"])");
  EXPECT_EQ(Run('a', {"attempts", "best_ms", "kernel.label"}, "?sender=ci"), "1 1 \"another\"");
  EXPECT_EQ(Run('a', {"attempts", "best_ms", "kernel.label"}, "?sender="), "1 2 \"softmax\"");
  EXPECT_EQ(Run('a', {}, "?sender=nobody"), "NOT_FOUND");
}

TEST_F(RefresherTest, ARestartGivesTheSameSummaries) {
  for (int i = 0; i < 20; ++i) {
    const char attempt = static_cast<char>('A' + i);
    const char run = static_cast<char>('0' + i % 10);
    story_.Send({RunRecord(run), AttemptRecord(attempt, run), Row(attempt, 1, 1 + i), Row(attempt, 2, 2)});
  }
  const std::vector<std::string> before = Runs();
  EXPECT_EQ(before.size(), 10U);
  story_.Restart();
  EXPECT_EQ(Runs(), before);
  EXPECT_EQ(story_.progress().done_attempts, 20);
  EXPECT_EQ(story_.progress().total_attempts, 20);
}

TEST_F(RefresherTest, FindsStepsOfASender) {
  for (int i = 0; i < 12; ++i) {
    const char id = static_cast<char>('A' + i);
    for (const std::string sender : {"", "ci"}) {
      const char attempt = sender.empty() ? id : static_cast<char>(id + 32);
      v1::Record record = State(attempt, 'a', v1::Attempt::STATE_COMPLETE);
      record.mutable_attempt()->set_started_unix_us(int64_t{1000000} * (i + 1));
      const double ms = i >= 6 && sender.empty() ? 1.5 : 1;
      story_.Send({RunRecord('a'), record, Row(attempt, 1, ms + 0.001 * (i % 3))}, sender);
    }
  }
  story_.Refresh();
  const auto steps = story_.Ask("regressions?series=best");
  ASSERT_TRUE(steps.ok()) << steps.status();
  ASSERT_EQ(At(*steps, "total"), "1");
  EXPECT_EQ(At(*steps, "items.0.attempt_id"), absl::StrCat("\"", AttemptHex('G'), "\""));
  EXPECT_EQ(At(*steps, "items.0.before_attempt_id"), absl::StrCat("\"", AttemptHex('F'), "\""));
  EXPECT_EQ(At(*steps, "items.0.sender"), "null");
  EXPECT_EQ(At(*steps, "items.0.time_unix_ms"), "7000");
  EXPECT_NEAR(std::stod(At(*steps, "items.0.ratio")), 1.5, 0.01);
  EXPECT_EQ(story_.Value("regressions?direction=faster", "total"), "0");
  EXPECT_EQ(story_.Value("regressions", "total"), "2");  // the best and the default time
}

TEST_F(RefresherTest, TheVersionGrowsWithEachChange) {
  story_.Refresh();
  const uint64_t version = story_.progress().version;
  story_.Refresh();
  EXPECT_EQ(story_.progress().version, version);
  story_.Send({AttemptRecord('A', 'a'), Row('A', 1, 1)});
  story_.Refresh();
  EXPECT_GT(story_.progress().version, version);
}

}  // namespace
}  // namespace telemetry::web::summary
