#include "worker/replay/score_scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/worker/replay/stored_runs.h"

namespace telemetry::worker::replay {
namespace {

using ::testing::HasSubstr;

// The expected values are those of RandomSearchCalculatedBaseline and SearchspaceStatistics of autotuning-methodology
// 1.1.0 for the same run.
TEST(ScoreScaleTest, HasTheBudgetAndTheBaselineOfThePackage) {
  const ScoreScale scale = ScoreScale::Create(ValleyRun(), 50).value();
  EXPECT_DOUBLE_EQ(scale.optimum_ms(), 1);
  EXPECT_DOUBLE_EQ(scale.median_ms(), 7);
  EXPECT_DOUBLE_EQ(scale.sample_times_s().front(), 2);
  EXPECT_DOUBLE_EQ(scale.budget_s(), 61);
  EXPECT_NEAR(scale.baseline_ms()[0], 5.2, 1e-12);
  EXPECT_NEAR(scale.baseline_ms()[100], 2.8, 1e-12);
  EXPECT_NEAR(scale.baseline_ms()[500], 1.8, 1e-12);
  EXPECT_NEAR(scale.baseline_ms()[999], 1.3, 1e-12);
}

TEST(ScoreScaleTest, HasTheScoreOfThePackage) {
  const ScoreScale scale = ScoreScale::Create(ValleyRun(), 50).value();
  std::vector<double> curve_ms;
  for (const double time_s : scale.sample_times_s()) curve_ms.push_back(time_s < 10 ? 4.0 : 1.3);
  EXPECT_NEAR(scale.Score(curve_ms), 0.39880514722106897, 1e-12);
  EXPECT_NEAR(scale.Score(scale.baseline_ms()), 0, 1e-12);
  EXPECT_NEAR(scale.Score(std::vector<double>(ScoreScale::kSamples, 1)), 1, 1e-12);
}

TEST(ScoreScaleTest, AveragesTheRanksOfSearches) {
  StoredRun run = ValleyRun();
  const ScoreScale scale = ScoreScale::Create(run, 50).value();
  const std::vector<ReplayedTrial> fast = {{.end_s = 1, .perf_ms = 1}};
  const std::vector<ReplayedTrial> failing = {{.end_s = 1, .perf_ms = {}}, {.end_s = 30, .perf_ms = 1}};
  const std::vector<double> alone = scale.MeanCurve({fast});
  EXPECT_EQ(alone.front(), 1);
  EXPECT_EQ(alone.back(), 1);
  EXPECT_EQ(scale.MeanCurve({failing}).front(), 7) << "the median until there is a result";
  const std::vector<double> both = scale.MeanCurve({fast, failing});
  EXPECT_GT(both.front(), 1);
  EXPECT_LT(both.front(), 7);
  EXPECT_EQ(both.back(), 1);
}

TEST(ScoreScaleTest, RefusesRunsThatSayNothing) {
  StoredRun run = ValleyRun();
  EXPECT_THAT(std::string(ScoreScale::Create(run, 1000).status().message()), HasSubstr("244 configs; 1000 are needed"));
  for (StoredConfig& config : run.configs) config.perf_ms = 2;
  EXPECT_THAT(std::string(ScoreScale::Create(run, 50).status().message()), HasSubstr("do not differ"));
}

}  // namespace
}  // namespace telemetry::worker::replay
