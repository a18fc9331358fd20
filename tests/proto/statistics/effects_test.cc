#include "proto/statistics/effects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace telemetry::statistics {
namespace {

using ::testing::DoubleNear;
using ::testing::Optional;

TEST(EffectsTest, ComputesTheAdjustedShareOfTheVariance) {
  // Squares: 10 in total, 1 within the groups. Adjusted: 1 - (1 / 2) / (10 / 3).
  EXPECT_THAT(ExplainedVariance({1, 2, 4, 5}, {0, 0, 7, 7}), Optional(DoubleNear(0.85, 1e-12)));
  EXPECT_THAT(ExplainedVariance({1, 1, 3, 3}, {0, 0, 1, 1}), Optional(DoubleNear(1, 1e-12)));
  EXPECT_THAT(ExplainedVariance({1, 3, 1, 3}, {0, 0, 1, 1}), Optional(DoubleNear(0, 1e-12)));
}

TEST(EffectsTest, KnowsNoEffectOfTooFewValues) {
  EXPECT_EQ(ExplainedVariance({}, {}), std::nullopt);
  EXPECT_EQ(ExplainedVariance({1, 2}, {0, 1}), std::nullopt);
  EXPECT_EQ(ExplainedVariance({1, 2, 3}, {0, 1, 2}), std::nullopt);
  EXPECT_EQ(ExplainedVariance({2, 2, 2, 2}, {0, 0, 1, 1}), std::nullopt);
}

TEST(EffectsTest, SeparatesSumsFromInteractions) {
  const Groups a = {0, 0, 0, 0, 1, 1, 1, 1};
  const Groups b = {0, 0, 1, 1, 0, 0, 1, 1};
  const std::vector<double> sums = {0, 0.01, 1, 1.01, 2, 2.01, 3, 3.01};
  const PairEffect additive = ExplainedByPair(sums, a, b);
  EXPECT_GT(*additive.effect, 0.99);
  EXPECT_THAT(additive.interaction, Optional(DoubleNear(0, 1e-3)));
  const std::vector<double> products = {0, 0.01, 1, 1.01, 1, 1.01, 0, 0.01};  // exclusive or
  const PairEffect interacting = ExplainedByPair(products, a, b);
  EXPECT_GT(*interacting.effect, 0.99);
  EXPECT_GT(*interacting.interaction, 0.99);
}

// The numbers of the groups are indexes of values, of which a sample may have few.
TEST(EffectsTest, NeedsLittleMemoryForHighNumbers) {
  const Groups a = {0, 0, 2000000000, 2000000000};
  const Groups b = {0, 2000000000, 0, 2000000000};
  const PairEffect pair = ExplainedByPair({1, 2, 3, 4}, a, b);
  EXPECT_EQ(pair.effect, std::nullopt);
  EXPECT_GT(*ExplainedVariance({1, 1.1, 3, 3.1}, a), 0.9);
}

}  // namespace
}  // namespace telemetry::statistics
