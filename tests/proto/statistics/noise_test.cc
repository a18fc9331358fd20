#include "proto/statistics/noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace telemetry::statistics {
namespace {

// Returns estimates of variances, each from so many degrees of freedom. Their true values vary with `spread`.
std::vector<Variance> Estimates(size_t count, int degrees, double spread) {
  std::mt19937_64 random(7);
  std::chi_squared_distribution<double> chi(degrees);
  std::normal_distribution<double> normal;
  std::vector<Variance> estimates;
  for (size_t i = 0; i < count; ++i) {
    const double truth = 4 * std::exp(spread * normal(random));
    estimates.push_back({.value = truth * chi(random) / degrees, .degrees = static_cast<double>(degrees)});
  }
  return estimates;
}

TEST(NoiseTest, FindsACommonVariance) {
  const auto prior = FitPrior(Estimates(2000, 4, 0));
  ASSERT_TRUE(prior.has_value());
  EXPECT_NEAR(prior->value, 4, 0.2);
  EXPECT_GT(prior->degrees, 50);
}

TEST(NoiseTest, TrustsDifferentVariancesLess) {
  const auto prior = FitPrior(Estimates(2000, 4, 1));
  ASSERT_TRUE(prior.has_value());
  EXPECT_GT(prior->degrees, 1);
  EXPECT_LT(prior->degrees, 5);
}

TEST(NoiseTest, HasAtMostTheDegreesOfItsGroups) {
  const auto prior = FitPrior({{.value = 2, .degrees = 3}, {.value = 2, .degrees = 4}});
  ASSERT_TRUE(prior.has_value());
  EXPECT_DOUBLE_EQ(prior->degrees, 7);
  EXPECT_FALSE(FitPrior({{.value = 2, .degrees = 3}}).has_value());
  EXPECT_FALSE(FitPrior({}).has_value());
}

TEST(NoiseTest, CombinesOwnVarianceAndPrior) {
  const auto both = Moderate(Variance{.value = 6, .degrees = 1}, Variance{.value = 2, .degrees = 3});
  ASSERT_TRUE(both.has_value());
  EXPECT_DOUBLE_EQ(both->value, 3);
  EXPECT_DOUBLE_EQ(both->degrees, 4);
  const auto own = Moderate(Variance{.value = 6, .degrees = 1}, std::nullopt);
  ASSERT_TRUE(own.has_value());
  EXPECT_DOUBLE_EQ(own->value, 6);
  EXPECT_FALSE(Moderate(std::nullopt, std::nullopt).has_value());
}

}  // namespace
}  // namespace telemetry::statistics
