#include "worker/ir/compare.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace telemetry::worker::ir {
namespace {

using device::DType;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfiniteDouble = std::numeric_limits<double>::infinity();

HostArray Row(const std::vector<double>& values) {
  HostArray array = HostArray::Dense(DType::kF32, {1, static_cast<int64_t>(values.size())});
  array.data = values;
  return array;
}

TEST(CompareTest, NamesTheWorstElement) {
  const Comparison comparison = Compare(Row({1, 100, 0}), Row({1.5, 101, 0.001}), {.absolute = 0.01, .relative = 0.1});
  EXPECT_FALSE(comparison.ok());
  EXPECT_EQ(comparison.mismatches, 1);
  EXPECT_EQ(comparison.worst_absolute, 1);
  EXPECT_EQ(comparison.worst_relative, 0.5);
  EXPECT_THAT(comparison.where, ElementsAre(0, 0));
  EXPECT_THAT(comparison.ToString(), HasSubstr("1 of 3 elements"));
  EXPECT_THAT(comparison.ToString(), HasSubstr("[0, 0]: expected 1, got 1.5"));
}

TEST(CompareTest, TakesWhatIsNotFiniteAsItIs) {
  const Tolerance wide = {.absolute = 1e9, .relative = 1e9};
  EXPECT_TRUE(
      Compare(Row({kNan, kInfiniteDouble, -kInfiniteDouble}), Row({kNan, kInfiniteDouble, -kInfiniteDouble}), wide)
          .ok());
  EXPECT_FALSE(Compare(Row({kNan}), Row({0}), wide).ok());
  EXPECT_FALSE(Compare(Row({0}), Row({kNan}), wide).ok());
  EXPECT_FALSE(Compare(Row({kInfiniteDouble}), Row({-kInfiniteDouble}), wide).ok());
  EXPECT_FALSE(Compare(Row({kInfiniteDouble}), Row({1e30}), wide).ok());
}

TEST(CompareTest, LooksAtElementsNotAtMemory) {
  HostArray transposed = HostArray::Strided(DType::kI32, {2, 3}, {1, 2});
  transposed.SetRowMajor({1, 2, 3, 4, 5, 6});
  HostArray dense = HostArray::Dense(DType::kI32, {2, 3});
  dense.SetRowMajor({1, 2, 3, 4, 5, 6});
  EXPECT_NE(transposed.data, dense.data);
  EXPECT_TRUE(Compare(dense, transposed, {}).ok());
  EXPECT_FALSE(Compare(dense, HostArray::Dense(DType::kI32, {3, 2}), {}).ok());
}

TEST(CompareTest, IsExactForIntegers) {
  EXPECT_EQ(ToleranceFor(DType::kI32).absolute, 0);
  EXPECT_EQ(ToleranceFor(DType::kI32).relative, 0);
  for (const DType dtype : device::kAllDTypes) EXPECT_LT(ToleranceFor(dtype).relative, 0.02);
}

}  // namespace
}  // namespace telemetry::worker::ir
