#include "proto/statistics/steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace telemetry::statistics {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns values around a level, with deviations of 0.2% at most.
std::vector<double> Around(double level, int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(level * (1 + 0.001 * (i % 5 - 2)));
  return values;
}

std::vector<double> Concat(const std::vector<std::vector<double>>& parts) {
  std::vector<double> values;
  for (const auto& part : parts) values.insert(values.end(), part.begin(), part.end());
  return values;
}

std::vector<size_t> Places(const std::vector<double>& values) {
  std::vector<size_t> places;
  for (const LevelStep& step : FindSteps(values)) places.push_back(step.at);
  return places;
}

TEST(StepsTest, FindsAStepWithItsRatio) {
  const auto steps = FindSteps(Concat({Around(1, 10), Around(1.5, 10)}));
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].at, 10U);
  EXPECT_NEAR(steps[0].before, 1, 1e-12);
  EXPECT_NEAR(steps[0].after, 1.5, 1e-12);
  EXPECT_NEAR(steps[0].ratio, 1.5, 1e-12);
  EXPECT_LT(steps[0].low, 1.5);
  EXPECT_GT(steps[0].low, 1.49);
  EXPECT_GT(steps[0].high, 1.5);
  EXPECT_LT(steps[0].high, 1.51);
}

TEST(StepsTest, FindsSeveralStepsInTheirOrder) {
  EXPECT_THAT(Places(Concat({Around(1, 8), Around(1.2, 8), Around(0.9, 8)})), ElementsAre(8, 16));
}

TEST(StepsTest, FindsTheExactPlaceWhateverTheLengthsAre) {
  for (const int before : {3, 5, 12, 40}) {
    for (const int after : {2, 5, 12, 40}) {
      EXPECT_THAT(Places(Concat({Around(1, before), Around(1.1, after)})), ElementsAre(static_cast<size_t>(before)))
          << after;
    }
  }
}

TEST(StepsTest, FindsAShortLevelBetweenTwoOthers) {
  EXPECT_THAT(Places(Concat({Around(1, 30), Around(1.5, 5), Around(1, 30)})), ElementsAre(30, 35));
  EXPECT_THAT(Places(Concat({Around(1, 10), Around(1.5, 5), Around(1, 15)})), ElementsAre(10, 15));
}

TEST(StepsTest, FindsAStepBesideAnOutlier) {
  EXPECT_THAT(Places(Concat({Around(1, 5), {4}, Around(1, 6), Around(1.2, 10)})), ElementsAre(12));
}

TEST(StepsTest, FindsFewStepsInNoise) {
  std::vector<double> values;
  uint32_t random = 1;
  for (int i = 0; i < 4000; ++i) {
    random = random * 1664525 + 1013904223;
    values.push_back(1 + 0.2 * static_cast<double>(random >> 8) / (1 << 24));
  }
  EXPECT_LE(FindSteps(values).size(), 4U);  // of 4000 places
}

TEST(StepsTest, FindsAStepInTheNewestValue) { EXPECT_THAT(Places(Concat({Around(1, 10), {1.3}})), ElementsAre(10)); }

TEST(StepsTest, IgnoresNoiseSmallChangesAndOutliers) {
  EXPECT_THAT(Places({}), IsEmpty());
  EXPECT_THAT(Places({1, 2}), IsEmpty());
  EXPECT_THAT(Places(Around(1, 100)), IsEmpty());
  EXPECT_THAT(Places(Concat({Around(1, 20), Around(1.01, 20)})), IsEmpty());                    // below 2%
  EXPECT_THAT(Places(Concat({Around(1, 10), {5}, Around(1, 10)})), IsEmpty());                  // an outlier
  EXPECT_THAT(Places({1, 1.5, 0.8, 1.4, 0.9, 1.3, 1.6, 0.85, 1.2, 1.5, 0.9, 1.4}), IsEmpty());  // noise
}

}  // namespace
}  // namespace telemetry::statistics
