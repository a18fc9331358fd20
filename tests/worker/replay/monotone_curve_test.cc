#include "worker/replay/monotone_curve.h"

#include <gtest/gtest.h>

namespace telemetry::worker::replay {
namespace {

// The expected values are those of scipy.interpolate.PchipInterpolator.
TEST(MonotoneCurveTest, HasTheValuesOfScipy) {
  const MonotoneCurve curve({1, 2, 3, 5, 6}, {9, 4, 4, 1.5, 1});
  EXPECT_NEAR(curve.At(1), 9.0, 1e-12);
  EXPECT_NEAR(curve.At(1.25), 7.1640625, 1e-12);
  EXPECT_NEAR(curve.At(1.9), 4.0725, 1e-12);
  EXPECT_NEAR(curve.At(2.5), 4.0, 1e-12);
  EXPECT_NEAR(curve.At(3.5), 3.673295454545454, 1e-12);
  EXPECT_NEAR(curve.At(4.75), 1.7379261363636362, 1e-12);
  EXPECT_NEAR(curve.At(5.5), 1.1960227272727273, 1e-12);
  EXPECT_NEAR(curve.At(6), 1.0, 1e-12);
}

TEST(MonotoneCurveTest, IsALineBetweenTwoNodes) {
  const MonotoneCurve curve({1, 3}, {4, 2});
  EXPECT_DOUBLE_EQ(curve.At(1), 4);
  EXPECT_DOUBLE_EQ(curve.At(2), 3);
  EXPECT_DOUBLE_EQ(curve.At(3), 2);
}

TEST(MonotoneCurveTest, IsConstantWhereTheNodesAre) {
  const MonotoneCurve curve({1, 2, 3, 4}, {2, 2, 2, 1});
  EXPECT_DOUBLE_EQ(curve.At(1.25), 2);
  EXPECT_DOUBLE_EQ(curve.At(2.75), 2);
}

}  // namespace
}  // namespace telemetry::worker::replay
