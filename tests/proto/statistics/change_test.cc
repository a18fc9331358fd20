#include "proto/statistics/change.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace telemetry::statistics {
namespace {

std::vector<LogMedian> Attempts(const std::vector<double>& times) {
  std::vector<LogMedian> attempts;
  for (const double time : times) attempts.push_back({.log = std::log(time), .variance = std::nullopt, .count = 1});
  return attempts;
}

TEST(ChangeTest, IsThatOfStudentsTest) {
  // Differences of 1% within the sides: a variance of (0.01^2 / 2) with two degrees of freedom in total.
  const double step = std::exp(0.01);
  const auto change = CompareAttempts(Attempts({1, step}), Attempts({1.1, 1.1 * step}), std::nullopt);
  ASSERT_TRUE(change.has_value());
  EXPECT_NEAR(change->ratio, 1.1, 1e-12);
  EXPECT_NEAR(change->error, 0.01 / std::sqrt(2), 1e-12);
  EXPECT_DOUBLE_EQ(change->degrees, 2);
  EXPECT_NEAR(std::log(*change->high / change->ratio), 4.30265 * change->error, 1e-6);
  EXPECT_NEAR(std::log(change->ratio / *change->low), 4.30265 * change->error, 1e-6);
  EXPECT_NEAR(change->Detectable(0.05), std::exp(4.30265 * change->error) - 1, 1e-6);
}

TEST(ChangeTest, IsNotSignificantByASingleAttempt) {
  const std::vector<double> base = {1, 1.001, 0.999, 1.002, 1, 0.998};
  const Variance prior = {.value = 1e-6, .degrees = 1000};
  EXPECT_GT(CompareAttempts(Attempts(base), Attempts({1, 1.1}), prior)->p_value, 0.5);
  EXPECT_LT(CompareAttempts(Attempts(base), Attempts({1.1, 1.1}), prior)->p_value, 1e-9);
}

TEST(ChangeTest, IgnoresTheExtremesOfManyAttempts) {
  const auto change = CompareAttempts(Attempts({1, 1.001, 0.999, 1.002, 1, 1.5}),
                                      Attempts({1.03, 1.031, 1.029, 1.032, 1.03, 1.6}), std::nullopt);
  ASSERT_TRUE(change.has_value());
  EXPECT_NEAR(change->ratio, 1.03, 0.001);
  EXPECT_LT(change->p_value, 1e-3);
}

TEST(ChangeTest, IsNotKnownWithoutNoise) {
  const auto change = CompareAttempts(Attempts({1}), Attempts({2}), std::nullopt);
  ASSERT_TRUE(change.has_value());
  EXPECT_DOUBLE_EQ(change->ratio, 2);
  EXPECT_EQ(change->low, std::nullopt);
  EXPECT_DOUBLE_EQ(change->p_value, 1);
  EXPECT_TRUE(std::isinf(change->Detectable(0.05)));
  EXPECT_FALSE(CompareAttempts(Attempts({}), Attempts({2}), std::nullopt).has_value());
}

TEST(ChangeTest, BelievesNoNoiseBelowThatOfTheSamples) {
  std::vector<LogMedian> equal(2);
  EXPECT_NEAR(AttemptNoise(equal, {})->value, 0.002 * 0.002, 1e-12);
  for (LogMedian& attempt : equal) attempt.variance = 0.01;
  EXPECT_NEAR(AttemptNoise(equal, equal)->value, 0.01, 1e-12);
  EXPECT_DOUBLE_EQ(AttemptNoise(equal, equal)->degrees, 2);
  EXPECT_FALSE(AttemptNoise({}, {}).has_value());
  EXPECT_FALSE(AttemptNoise(Attempts({1}), Attempts({1})).has_value());
}

TEST(ChangeTest, HasTimesWithIntervals) {
  const SideTime time = TimeOf(Attempts({1, 4}), Variance{.value = 0.02, .degrees = 4});
  EXPECT_NEAR(time.time, 2, 1e-12);
  EXPECT_NEAR(std::log(*time.high / time.time), 2.77645 * 0.1, 1e-5);
  const SideTime of_samples = TimeOf({{.log = 0, .variance = 0.01, .count = 5}}, std::nullopt);
  EXPECT_NEAR(std::log(*of_samples.high), 2.77645 * 0.1, 1e-5);
  EXPECT_EQ(TimeOf(Attempts({1, 2}), std::nullopt).low, std::nullopt);
}

}  // namespace
}  // namespace telemetry::statistics
