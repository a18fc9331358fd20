#include "proto/statistics/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace telemetry::statistics {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

TEST(SamplesTest, ParsesArraysOfNumbers) {
  EXPECT_THAT(ParseSamples("[1, 2.5, 1e-3]", 10), ElementsAre(1, 2.5, 1e-3));
  EXPECT_THAT(ParseSamples("[1, 2, 3]", 2), ElementsAre(1, 2));
  EXPECT_THAT(ParseSamples("[]", 10), IsEmpty());
  EXPECT_THAT(ParseSamples("", 10), IsEmpty());
}

TEST(SamplesTest, ReturnsNothingForAnotherText) {
  for (const char* const text : {"{\"a\": 1}", "[1, \"x\"]", "[1, NaN]", "[Infinity]", "null", "[1, 1e999]"}) {
    EXPECT_THAT(ParseSamples(text, 10), IsEmpty()) << text;
  }
}

// The values are those of numpy.quantile.
TEST(SamplesTest, InterpolatesQuantiles) {
  EXPECT_DOUBLE_EQ(Quantile({1, 2, 3, 4}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(Quantile({1, 2, 3, 4}, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(Quantile({1, 2, 4}, 1), 4);
  EXPECT_DOUBLE_EQ(Quantile({7}, 0.25), 7);
}

TEST(SamplesTest, ComputesQuantilesOfUnsortedValues) {
  const auto quantiles = QuantilesOf({4, 1, 3, 2});
  ASSERT_TRUE(quantiles.has_value());
  EXPECT_EQ(quantiles->count, 4);
  EXPECT_DOUBLE_EQ(quantiles->min, 1);
  EXPECT_DOUBLE_EQ(quantiles->p25, 1.75);
  EXPECT_DOUBLE_EQ(quantiles->median, 2.5);
  EXPECT_DOUBLE_EQ(quantiles->p75, 3.25);
  EXPECT_DOUBLE_EQ(quantiles->max, 4);
  EXPECT_FALSE(QuantilesOf({}).has_value());
}

TEST(SamplesTest, ComputesTheRelativeSpread) {
  EXPECT_THAT(RelativeSpread({4, 1, 3, 2}), Optional(DoubleEq(1.5 / 2.5)));
  EXPECT_EQ(RelativeSpread({1, 2}), std::nullopt);
  EXPECT_EQ(RelativeSpread({0, 0, 0}), std::nullopt);
}

}  // namespace
}  // namespace telemetry::statistics
