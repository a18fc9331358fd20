#include "proto/statistics/gamma.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace telemetry::statistics {
namespace {

constexpr double kEuler = 0.57721566490153286;

TEST(GammaTest, HasKnownValues) {
  EXPECT_NEAR(LogGamma(0.5), std::log(std::numbers::pi) / 2, 1e-12);
  EXPECT_NEAR(LogGamma(1), 0, 1e-12);
  EXPECT_NEAR(LogGamma(10), std::log(362880), 1e-11);
  EXPECT_NEAR(Digamma(1), -kEuler, 1e-12);
  EXPECT_NEAR(Digamma(0.5), -kEuler - 2 * std::numbers::ln2, 1e-12);
  EXPECT_NEAR(Trigamma(1), std::numbers::pi * std::numbers::pi / 6, 1e-12);
  EXPECT_NEAR(Trigamma(0.5), std::numbers::pi * std::numbers::pi / 2, 1e-11);
}

TEST(GammaTest, FollowsTheRecurrences) {
  for (const double x : {0.3, 1.7, 11.5, 12.5, 400.0}) {
    EXPECT_NEAR(LogGamma(x + 1), LogGamma(x) + std::log(x), 1e-10 * std::max(1.0, std::abs(LogGamma(x)))) << x;
    EXPECT_NEAR(Digamma(x + 1), Digamma(x) + 1 / x, 1e-12) << x;
    EXPECT_NEAR(Trigamma(x + 1), Trigamma(x) - 1 / (x * x), 1e-12) << x;
  }
}

TEST(GammaTest, InvertsTrigamma) {
  for (const double x : {1e-3, 0.1, 0.5, 1.0, 2.5, 30.0, 1e4}) {
    EXPECT_NEAR(InverseTrigamma(Trigamma(x)) / x, 1, 1e-9) << x;
  }
}

}  // namespace
}  // namespace telemetry::statistics
