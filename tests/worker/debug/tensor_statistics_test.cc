#include "worker/debug/tensor_statistics.h"

#include <cmath>
#include <limits>
#include <random>

#include "tests/worker/compiler.h"
#include "tests/worker/debug/debug_fixture.h"
#include "worker/debug/device_statistics.h"
#include "worker/device/compile_cuda.h"
#include "worker/ir/half.h"

namespace telemetry::worker::debug {
namespace {

using device::DType;
using runtime::Tensor;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Computes the statistics in two passes in extended precision.
TensorStatistics Expected(const std::vector<double>& elements) {
  TensorStatistics expected = {
      .elements = static_cast<int64_t>(elements.size()), .minimum = kInfinity, .maximum = -kInfinity};
  long double sum = 0;
  for (const double element : elements) {
    expected.nans += std::isnan(element) ? 1 : 0;
    expected.infinities += std::isinf(element) ? 1 : 0;
    if (!std::isfinite(element)) continue;
    sum += element;
    expected.minimum = std::min(expected.minimum, element);
    expected.maximum = std::max(expected.maximum, element);
  }
  if (expected.finite() == 0) {
    expected.mean = expected.minimum = expected.maximum = expected.deviation = kNaN;
    return expected;
  }
  const long double mean = sum / expected.finite();
  long double squares = 0;
  for (const double element : elements) {
    if (std::isfinite(element)) squares += (element - mean) * (element - mean);
  }
  expected.mean = static_cast<double>(mean);
  expected.deviation = static_cast<double>(std::sqrt(squares / expected.finite()));
  return expected;
}

std::vector<double> Random(DType dtype, int64_t count, double low, double high) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> draw(low, high);
  std::vector<double> elements(static_cast<size_t>(count));
  for (double& element : elements) element = ir::RoundTo(dtype, draw(random));
  return elements;
}

// Expects equal counts and extremes, and a mean and deviation within `tolerance` times the largest absolute element.
void ExpectNear(const TensorStatistics& actual, const TensorStatistics& expected, double tolerance) {
  EXPECT_EQ(actual.elements, expected.elements);
  EXPECT_EQ(actual.nans, expected.nans);
  EXPECT_EQ(actual.infinities, expected.infinities);
  if (expected.finite() == 0) {
    for (const double none : {actual.mean, actual.minimum, actual.maximum, actual.deviation}) {
      EXPECT_TRUE(std::isnan(none));
    }
    return;
  }
  EXPECT_EQ(actual.minimum, expected.minimum);
  EXPECT_EQ(actual.maximum, expected.maximum);
  const double scale = std::max(std::abs(expected.minimum), std::abs(expected.maximum));
  EXPECT_NEAR(actual.mean, expected.mean, tolerance * scale);
  EXPECT_NEAR(actual.deviation, expected.deviation, tolerance * scale);
}

constexpr double kDoubleTolerance = 1e-12;
constexpr double kFloatTolerance = 1e-4;

class TensorStatisticsTest : public DebugTest {
 protected:
  // Checks the statistics computed on the host, and on the device with both types of sums.
  void ExpectStatistics(const ir::HostArray& array) {
    const TensorStatistics expected = Expected(array.RowMajor());
    ExpectNear(ComputeStatistics(array.RowMajor()), expected, kDoubleTolerance);
    const Tensor tensor = OnDevice(array);
    for (auto* statistics : {wide_.get(), narrow_.get()}) {
      const absl::StatusOr<TensorStatistics> actual = statistics->Compute(tensor);
      ASSERT_TRUE(actual.ok()) << actual.status();
      SCOPED_TRACE(statistics == wide_.get() ? "doubles" : "floats");
      ExpectNear(*actual, expected, statistics == wide_.get() ? kDoubleTolerance : kFloatTolerance);
    }
  }

  std::unique_ptr<DeviceStatistics> wide_ =
      DeviceStatistics::CreateWith(device_, DeviceStatistics::Sums::kDouble).value();
  std::unique_ptr<DeviceStatistics> narrow_ =
      DeviceStatistics::CreateWith(device_, DeviceStatistics::Sums::kFloat).value();
};

TEST_F(TensorStatisticsTest, EveryDType) {
  for (const DType dtype : device::kAllDTypes) {
    SCOPED_TRACE(std::string(ShortName(dtype)));
    const double bound = dtype == DType::kI32 ? 2e9 : dtype == DType::kBool ? 1.0 : 3;
    // Values in (-2, 2), truncated to integers: about half of the bools are 0.
    ir::HostArray array = Array(dtype, {1000, 77}, Random(DType::kF32, 77000, -bound, bound));
    if (dtype == DType::kBool) array.SetRowMajor(Random(DType::kI32, 77000, -2, 2));
    ExpectStatistics(array);
  }
}

TEST_F(TensorStatisticsTest, OneElementAndNone) {
  ExpectStatistics(Array(DType::kF32, {}, {-2.5}));
  ExpectStatistics(Array(DType::kI32, {1, 1}, {7}));
  ExpectStatistics(Array(DType::kF16, {0}, {}));
  ExpectStatistics(Array(DType::kF32, {3, 0, 2}, {}));
}

TEST_F(TensorStatisticsTest, NaNsAndInfinitiesAreCountedAndLeftOut) {
  ExpectStatistics(Array(DType::kF32, {6}, {kNaN, 1, kInfinity, -3, -kInfinity, kNaN}));
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    ExpectStatistics(Array(dtype, {3}, {kNaN, kInfinity, kNaN}));
    std::vector<double> elements = Random(dtype, 30000, -1, 1);
    for (size_t i = 0; i < elements.size(); i += 17) elements[i] = i % 2 == 0 ? kNaN : -kInfinity;
    ExpectStatistics(Array(dtype, {30000}, elements));
  }
}

TEST_F(TensorStatisticsTest, ExtremesAreExact) {
  ExpectStatistics(Array(DType::kI32, {4}, {INT32_MIN, INT32_MAX, (1 << 24) + 1, 0}));
  const TensorStatistics subnormal = *narrow_->Compute(OnDevice(Array(DType::kF32, {3}, {-1e-45, 0, 1e-45})));
  EXPECT_EQ(subnormal.minimum, -0x1p-149);
  EXPECT_EQ(subnormal.maximum, 0x1p-149);
  const TensorStatistics large =
      *wide_->Compute(OnDevice(Array(DType::kF32, {2}, {-3.4028234663852886e38, 3.4028234663852886e38})));
  EXPECT_EQ(large.mean, 0);
  EXPECT_NEAR(large.deviation, 3.4028234663852886e38, 1e26);
}

TEST_F(TensorStatisticsTest, ASmallDeviationOfLargeNumbersIsNotLost) {
  const std::vector<double> elements = Random(DType::kF32, 100000, 1e6, 1e6 + 1);
  const TensorStatistics expected = Expected(elements);
  const Tensor tensor = OnDevice(Array(DType::kF32, {100000}, elements));
  EXPECT_NEAR(wide_->Compute(tensor)->deviation, expected.deviation, 1e-9 * expected.deviation);
  EXPECT_NEAR(narrow_->Compute(tensor)->deviation, expected.deviation, 1e-2 * expected.deviation);
}

TEST_F(TensorStatisticsTest, AnyStrides) {
  const std::vector<double> elements = Random(DType::kF32, 5040, -1, 1);
  ExpectStatistics(Array(DType::kF32, {70, 72}, elements, {1, 70}));                               // transposed
  ExpectStatistics(Array(DType::kF32, {70, 72}, elements, {80, 1}));                               // rows with gaps
  ExpectStatistics(Array(DType::kF32, {7, 10, 72}, elements, {1000, 100, 1}));                     // two neighbours
  ExpectStatistics(Array(DType::kF32, {5040}, elements, {3}));                                     // a column
  ExpectStatistics(Array(DType::kI32, {3, 4}, std::vector<double>(12, 5), {0, 1}));                // repeated
  ExpectStatistics(Array(DType::kF16, {2, 3, 4, 5, 6, 7}, elements, {2520, 1, 600, 120, 18, 3}));  // rank 6
  ExpectStatistics(Array(DType::kBool, {1, 2, 1, 2}, {0, 1, 1, 0}, {9, 3, 5, 1}));                 // ones between
}

TEST_F(TensorStatisticsTest, TheCodeIsCudaToo) {
  if (!HasNvrtc()) GTEST_SKIP() << "no NVRTC";
  for (const auto sums : {DeviceStatistics::Sums::kDouble, DeviceStatistics::Sums::kFloat}) {
    const absl::Status status = device::CompileCuda(StatisticsSource(device::Dialect::kCuda, sums), "sm_80").status();
    EXPECT_TRUE(status.ok()) << status;
  }
}

// Checks that a bool with a byte other than 0 and 1, as in memory that no kernel has written, counts as true.
TEST_F(TensorStatisticsTest, AByteOtherThanZeroIsTrue) {
  Tensor tensor = runtime::AllocateTensor(device_, DType::kBool, {100}).value();
  ASSERT_EQ(device_->Fill(tensor.buffer.get(), 0xa5), absl::OkStatus());
  EXPECT_EQ(wide_->Compute(tensor)->mean, 1);
  EXPECT_EQ(wide_->Compute(tensor)->maximum, 1);
}

}  // namespace
}  // namespace telemetry::worker::debug
