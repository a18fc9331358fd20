#include "proto/statistics/ratio.h"

#include <gtest/gtest.h>

#include <cmath>

namespace telemetry::statistics {
namespace {

TEST(RatioTest, ComparesMedians) {
  const auto ratio = CompareMedians({1, 1.1, 0.9, 1.05, 0.95}, {2, 2.2, 1.8, 2.1, 1.9});
  ASSERT_TRUE(ratio.has_value());
  EXPECT_DOUBLE_EQ(ratio->ratio, 2);
  EXPECT_EQ(ratio->count, 5U);
  // The interquartile range of both is log(1.05 / 0.95), the quantile of Student's t for 4 degrees of freedom 2.776.
  const double error = 1.2533 * std::log(1.05 / 0.95) / 1.349 / std::sqrt(5);
  const double reach = 2.7764451 * std::sqrt(2) * error;
  EXPECT_NEAR(*ratio->low, 2 * std::exp(-reach), 1e-6);
  EXPECT_NEAR(*ratio->high, 2 * std::exp(reach), 1e-6);
  EXPECT_EQ(ratio->IsSignificant(), std::optional(true));
}

TEST(RatioTest, IsNotSignificantWithinTheNoise) {
  const auto ratio = CompareMedians({1, 1.1, 0.9}, {1.02, 1.12, 0.92});
  ASSERT_TRUE(ratio.has_value());
  EXPECT_EQ(ratio->IsSignificant(), std::optional(false));
}

TEST(RatioTest, HasNoIntervalForLessThanThreeValues) {
  const auto ratio = CompareMedians({1, 1, 1}, {3});
  ASSERT_TRUE(ratio.has_value());
  EXPECT_DOUBLE_EQ(ratio->ratio, 3);
  EXPECT_EQ(ratio->count, 1U);
  EXPECT_EQ(ratio->low, std::nullopt);
  EXPECT_EQ(ratio->IsSignificant(), std::nullopt);
  EXPECT_FALSE(CompareMedians({}, {1}).has_value());
  EXPECT_FALSE(CompareMedians({1}, {0, -1}).has_value());
}

TEST(RatioTest, ComputesGeometricMeans) {
  const auto mean = GeometricMean({1, 2, 4});
  ASSERT_TRUE(mean.has_value());
  EXPECT_NEAR(mean->ratio, 2, 1e-12);
  // The standard error is log(2) / sqrt(3); two degrees of freedom.
  EXPECT_NEAR(*mean->high, 2 * std::exp(4.3026527 * std::log(2) / std::sqrt(3)), 1e-6);
  EXPECT_EQ(mean->IsSignificant(), std::optional(false));
  EXPECT_FALSE(GeometricMean({}).has_value());
  EXPECT_NEAR(GeometricMean({4, 9})->ratio, 6, 1e-12);
}

TEST(RatioTest, UsesStudentsDistributionForManyValues) {
  std::vector<double> ratios;
  for (int i = 0; i < 61; ++i) ratios.push_back(i % 2 == 0 ? 1.1 : 0.9);
  const auto mean = GeometricMean(ratios);
  double sum = 0;
  double squares = 0;
  for (const double ratio : ratios) sum += std::log(ratio);
  for (const double ratio : ratios) squares += std::pow(std::log(ratio) - sum / 61, 2);
  const double error = std::sqrt(squares / 60 / 61);
  EXPECT_NEAR(std::log(*mean->high / mean->ratio) / error, 2.000298, 1e-5);  // 60 degrees of freedom
}

}  // namespace
}  // namespace telemetry::statistics
