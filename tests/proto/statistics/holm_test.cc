#include "proto/statistics/holm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace telemetry::statistics {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The values are those of R's p.adjust(p, "holm").
TEST(HolmTest, AdjustsInTheOrderOfTheInput) {
  EXPECT_THAT(AdjustByHolm({0.01, 0.04, 0.03, 0.005}),
              ElementsAre(DoubleEq(0.03), DoubleEq(0.06), DoubleEq(0.06), DoubleEq(0.02)));
  EXPECT_THAT(AdjustByHolm({0.5, 0.6}), ElementsAre(DoubleEq(1), DoubleEq(1)));
  EXPECT_THAT(AdjustByHolm({0.02}), ElementsAre(DoubleEq(0.02)));
  EXPECT_THAT(AdjustByHolm({}), IsEmpty());
}

}  // namespace
}  // namespace telemetry::statistics
