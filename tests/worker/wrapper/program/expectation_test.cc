#include "worker/wrapper/program/expectation.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "tests/worker/ir/rng.h"

namespace telemetry::worker::wrapper::program {
namespace {

constexpr ir::Tolerance kTolerance = {.absolute = 1e-6, .relative = 1e-3};

std::vector<double> RandomValues(size_t count) {
  ir::Rng rng(1);
  std::vector<double> values(count);
  for (double& value : values) value = rng.Real(0.5, 1);
  return values;
}

// Returns the number of stripes whose sums differ by more than their tolerance.
int StripesApart(const Expectation& expected, const std::vector<double>& values) {
  const Expectation actual = MakeExpectation(values, kTolerance);
  int apart = 0;
  for (size_t i = 0; i < expected.stripes.size(); ++i) {
    apart += std::abs(expected.stripes[i].sum - actual.stripes[i].sum) > expected.stripes[i].tolerance ? 1 : 0;
  }
  return apart;
}

TEST(ExpectationTest, FewValuesAreAllSamples) {
  const std::vector<double> values = RandomValues(1024);
  const Expectation expected = MakeExpectation(values, kTolerance);
  EXPECT_EQ(expected.samples, values);
  EXPECT_TRUE(expected.stripes.empty());
  EXPECT_EQ(MakeExpectation(RandomValues(1025), kTolerance).stripes.size(), 33);
  EXPECT_TRUE(MakeExpectation({}, kTolerance).samples.empty());
  EXPECT_EQ(MakeExpectation({{3.0}}, kTolerance).samples, std::vector<double>{3});
}

TEST(ExpectationTest, SamplesReachFromTheFirstToTheLast) {
  EXPECT_EQ(SamplePosition(0, 1'000'000), 0);
  EXPECT_EQ(SamplePosition(Expectation::kSamples - 1, 1'000'000), 999'999);
  EXPECT_EQ(SamplePosition(17, 1024), 17);
}

TEST(ExpectationTest, StripesAllowWhatTheToleranceAllowsAlsoWhenItGoesOneWay) {
  std::vector<double> values = RandomValues(3'000'000);
  const Expectation expected = MakeExpectation(values, kTolerance);
  ASSERT_EQ(expected.stripes.size(), 1024);
  for (double& value : values) value *= 1 + 0.5e-3;
  EXPECT_EQ(StripesApart(expected, values), 0);
}

TEST(ExpectationTest, StripesShowOneElementThatIsWrong) {
  const std::vector<double> right = RandomValues(3'000'000);
  const Expectation expected = MakeExpectation(right, kTolerance);
  for (const size_t position : {size_t{1}, size_t{1'234'567}, right.size() - 2}) {
    std::vector<double> values = right;
    values[position] = 0;
    EXPECT_EQ(StripesApart(expected, values), 1) << position;
  }
}

TEST(ExpectationTest, StripesShowNeighboursThatChangedPlaces) {
  std::vector<double> values = RandomValues(3'000'000);
  const Expectation expected = MakeExpectation(values, kTolerance);
  for (size_t i = 100; i + 1 < 200; i += 2) std::swap(values[i], values[i + 1]);
  EXPECT_EQ(StripesApart(expected, values), 1);
}

TEST(ExpectationTest, WhatIsNotFiniteIsCounted) {
  std::vector<double> values = RandomValues(5000);
  values[7] = std::numeric_limits<double>::quiet_NaN();
  values[4999] = std::numeric_limits<double>::infinity();
  const Expectation expected = MakeExpectation(values, kTolerance);
  EXPECT_EQ(expected.not_finite, 2);
  EXPECT_TRUE(std::isfinite(expected.stripes[0].sum));
}

}  // namespace
}  // namespace telemetry::worker::wrapper::program
