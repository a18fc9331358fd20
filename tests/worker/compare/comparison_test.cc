#include "worker/compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/worker/compare/attempt_builder.h"

namespace telemetry::worker::compare {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

RunComparison Compare(const RunSides& run, const CompareOptions& options = {}) {
  return CompareRuns({run}, options).front();
}

TEST(ComparisonTest, CallsSlowerAndFasterTimes) {
  const RunComparison slower = Compare(SidesOf(AttemptsOf(1, 6), AttemptsOf(1.03, 6)));
  EXPECT_EQ(slower.verdict, Verdict::kSlower);
  ASSERT_THAT(slower.times, SizeIs(3));
  EXPECT_EQ(slower.times[0].kind, TimeKind::kBest);
  EXPECT_NEAR(slower.times[0].change->ratio, 1.03, 1e-3);
  EXPECT_LT(slower.times[0].adjusted_p, 0.001);
  EXPECT_NEAR(slower.times[0].base->time, 1, 1e-3);
  EXPECT_EQ(Compare(SidesOf(AttemptsOf(1.03, 6), AttemptsOf(1, 6))).verdict, Verdict::kFaster);
}

TEST(ComparisonTest, CallsTheRestTheSame) {
  EXPECT_EQ(Compare(SidesOf(AttemptsOf(1, 6), AttemptsOf(1.001, 6))).verdict, Verdict::kSame);
  // Significant, but below the threshold.
  EXPECT_EQ(Compare(SidesOf(AttemptsOf(1, 20), AttemptsOf(1.012, 20))).verdict, Verdict::kSame);
  EXPECT_EQ(Compare(SidesOf(AttemptsOf(1, 20), AttemptsOf(1.012, 20)), {.threshold = 0.01}).verdict, Verdict::kSlower);
}

TEST(ComparisonTest, IsSlowerIfOnlyTheDefaultIs) {
  RunSides run = SidesOf(AttemptsOf(1, 6), AttemptsOf(0.9, 6));
  for (AttemptTimes& attempt : run.head) attempt.Of(TimeKind::kDefault)->median.log += 0.2;
  const RunComparison result = Compare(run);
  EXPECT_EQ(result.verdict, Verdict::kSlower);
  EXPECT_EQ(result.times[0].verdict, Verdict::kFaster);
  EXPECT_EQ(result.times[1].verdict, Verdict::kSlower);
}

TEST(ComparisonTest, NamesNewAndGoneRuns) {
  EXPECT_EQ(Compare(SidesOf({}, AttemptsOf(1, 2))).verdict, Verdict::kNew);
  EXPECT_EQ(Compare(SidesOf(AttemptsOf(1, 2), {})).verdict, Verdict::kGone);
}

TEST(ComparisonTest, IsUnsureWithFewAttempts) {
  const RunComparison one = Compare(SidesOf(AttemptsOf(1, 6), AttemptsOf(2, 1)));
  EXPECT_EQ(one.verdict, Verdict::kUnsure);
  EXPECT_EQ(one.times[0].reason, "1 attempt of head; 3 are needed");
  const RunComparison two = Compare(SidesOf(AttemptsOf(1, 2), AttemptsOf(1.03, 2)), {.least_attempts = 2});
  EXPECT_EQ(two.verdict, Verdict::kUnsure);
  EXPECT_THAT(two.times[0].reason, HasSubstr("2 and 2 attempts show only changes above"));
  // Without any repetition, the noise is not known.
  const RunComparison single = Compare(SidesOf(AttemptsOf(1, 1), AttemptsOf(2, 1)), {.least_attempts = 1});
  EXPECT_EQ(single.verdict, Verdict::kUnsure);
  EXPECT_EQ(single.times[0].reason, "the noise between attempts is not known");
}

TEST(ComparisonTest, LearnsTheNoiseFromOtherRuns) {
  std::vector<RunSides> runs(20, SidesOf(AttemptsOf(1, 3), AttemptsOf(1, 3)));
  runs.push_back(SidesOf(AttemptsOf(1, 3), AttemptsOf(1.03, 3)));
  EXPECT_EQ(CompareRuns(runs, {}).back().verdict, Verdict::kSlower);
  runs.back().key.hardware = "another device";
  EXPECT_EQ(CompareRuns(runs, {}).back().verdict, Verdict::kUnsure);
}

TEST(ComparisonTest, IsUnsureIfATimeIsMissing) {
  RunSides run = SidesOf(AttemptsOf(1, 6), AttemptsOf(1, 6));
  for (AttemptTimes& attempt : run.head) attempt.Of(TimeKind::kChosen).reset();
  const RunComparison result = Compare(run);
  EXPECT_EQ(result.verdict, Verdict::kUnsure);
  EXPECT_EQ(result.times[2].reason, "head has no such time");
}

TEST(ComparisonTest, IsUnsureIfALowerClockExplainsTheTime) {
  const RunComparison throttled = Compare(SidesOf(AttemptsOf(1, 6, 1755), AttemptsOf(1.1, 6, 1600)));
  EXPECT_EQ(throttled.verdict, Verdict::kUnsure);
  EXPECT_EQ(throttled.times[0].reason, "the clock was 1755 MHz in base, 1600 MHz in head");
  EXPECT_EQ(Compare(SidesOf(AttemptsOf(1, 6, 1755), AttemptsOf(1.2, 6, 1600))).verdict, Verdict::kSlower);
  EXPECT_EQ(Compare(SidesOf(AttemptsOf(1, 6, 1755), AttemptsOf(1.1, 6, 1755))).verdict, Verdict::kSlower);
}

}  // namespace
}  // namespace telemetry::worker::compare
