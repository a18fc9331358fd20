#include "worker/tune/measure/check_code.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/worker/tune/measure/measure_fixture.h"
#include "worker/device/open_device.h"
#include "worker/ir/host_array.h"

namespace telemetry::worker::tune::measure {
namespace {

using device::Buffer;
using device::DType;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

template <typename T>
absl::Span<const std::byte> AsBytes(const std::vector<T>& values) {
  return {reinterpret_cast<const std::byte*>(values.data()), values.size() * sizeof(T)};
}

class CheckCodeTest : public MeasureTest {
 protected:
  void SetUp() override {
    device_ = device::OpenDevice(DeviceName()).value();
    checks_ = DeviceChecks::Create(device_.get()).value();
    counts_ = device_->Allocate(2 * sizeof(CheckCounts)).value();
  }

  std::unique_ptr<Buffer> Uploaded(absl::Span<const std::byte> bytes) {
    std::unique_ptr<Buffer> buffer = device_->Allocate(bytes.size()).value();
    EXPECT_EQ(device_->Upload(buffer.get(), 0, bytes), absl::OkStatus());
    return buffer;
  }

  // Returns the counts that the work of `queue` adds to the second slot.
  template <typename Queue>
  CheckCounts Counted(Queue queue) {
    EXPECT_EQ(device_->Fill(counts_.get(), 0), absl::OkStatus());
    EXPECT_EQ(queue(), absl::OkStatus());
    CheckCounts counts[2];
    EXPECT_EQ(device_->Download(counts_.get(), 0, {reinterpret_cast<std::byte*>(counts), sizeof(counts)}),
              absl::OkStatus());
    EXPECT_EQ(counts[0].mismatches, 0u) << "the first slot must not change";
    return counts[1];
  }

  CheckCounts Compare(DType dtype, const std::vector<double>& actual, const std::vector<float>& expected,
                      ir::Tolerance tolerance) {
    ir::HostArray array = ir::HostArray::Dense(dtype, {static_cast<int64_t>(actual.size())});
    array.data = actual;
    const std::unique_ptr<Buffer> device_actual = Uploaded(ir::ToBytes(array));
    const std::unique_ptr<Buffer> device_expected = Uploaded(AsBytes(expected));
    return Counted([&] {
      return checks_->Compare(device_actual.get(), device_expected.get(), dtype, static_cast<int64_t>(actual.size()),
                              tolerance, counts_.get(), 1);
    });
  }

  std::shared_ptr<device::Device> device_;
  std::unique_ptr<DeviceChecks> checks_;
  std::unique_ptr<Buffer> counts_;
};

TEST_F(CheckCodeTest, ToleratesAbsolutePlusRelative) {
  const ir::Tolerance tolerance = {.absolute = 0.5, .relative = 0.25};
  EXPECT_EQ(Compare(DType::kF32, {10, 13, 7, -13}, {10, 10, 10, -10}, tolerance).mismatches, 0u);
  const CheckCounts counts = Compare(DType::kF32, {10, 10, 13.25, -6}, {10, 10, 10, -10}, tolerance);
  EXPECT_EQ(counts.mismatches, 2u);
  EXPECT_EQ(counts.first_mismatch(), 2);
  EXPECT_EQ(counts.worst_absolute, 4);
  EXPECT_NEAR(counts.worst_relative, 0.4, 1e-6);
}

TEST_F(CheckCodeTest, NaNAndInfinityMatchThemselvesOnly) {
  const ir::Tolerance wide = {.absolute = 1e30, .relative = 10};
  EXPECT_EQ(Compare(DType::kF32, {kNotANumber, kInfinite, -kInfinite}, {kNaN, kInfinity, -kInfinity}, wide).mismatches,
            0u);
  const CheckCounts counts = Compare(DType::kF32, {kNotANumber, 1, kInfinite, 1, kInfinite, kNotANumber},
                                     {1, kNaN, 1, kInfinity, -kInfinity, kInfinity}, wide);
  EXPECT_EQ(counts.mismatches, 6u);
  EXPECT_EQ(counts.worst_absolute, kInfinity);
}

TEST_F(CheckCodeTest, ReadsEveryNumberOfTheNarrowFloats) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    std::vector<uint16_t> bits(1 << 16);
    for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
    ir::HostArray array = ir::HostArray::Dense(dtype, {1 << 16});
    ASSERT_EQ(ir::FromBytes(AsBytes(bits), &array), absl::OkStatus());
    const std::vector<float> expected(array.data.begin(), array.data.end());
    const std::unique_ptr<Buffer> device_actual = Uploaded(AsBytes(bits));
    const std::unique_ptr<Buffer> device_expected = Uploaded(AsBytes(expected));
    const CheckCounts counts = Counted([&] {
      return checks_->Compare(device_actual.get(), device_expected.get(), dtype, 1 << 16, {}, counts_.get(), 1);
    });
    EXPECT_EQ(counts.mismatches, 0u) << ShortName(dtype) << " " << counts.first_mismatch();
  }
}

TEST_F(CheckCodeTest, ComparesIntegersExactly) {
  const std::vector<int32_t> numbers = {INT32_MAX, INT32_MIN, 1 << 24, (1 << 24) + 1};
  const std::vector<int32_t> others = {INT32_MAX, INT32_MAX, 1 << 24, 1 << 24};
  const std::unique_ptr<Buffer> actual = Uploaded(AsBytes(numbers));
  const std::unique_ptr<Buffer> expected = Uploaded(AsBytes(others));
  const CheckCounts counts =
      Counted([&] { return checks_->Compare(actual.get(), expected.get(), DType::kI32, 4, {}, counts_.get(), 1); });
  EXPECT_EQ(counts.mismatches, 2u);
  EXPECT_EQ(counts.first_mismatch(), 1);
  EXPECT_EQ(counts.worst_absolute, 4294967296.0f);
}

TEST_F(CheckCodeTest, ABoolIsZeroOrOne) {
  const std::vector<uint8_t> bytes = {0, 1, 1, 0xa5, 0};
  const std::vector<int32_t> values = {0, 1, 0, 1, 0};
  const std::unique_ptr<Buffer> actual = Uploaded(AsBytes(bytes));
  const std::unique_ptr<Buffer> expected = Uploaded(AsBytes(values));
  const CheckCounts counts =
      Counted([&] { return checks_->Compare(actual.get(), expected.get(), DType::kBool, 5, {}, counts_.get(), 1); });
  EXPECT_EQ(counts.mismatches, 2u);
  EXPECT_EQ(counts.first_mismatch(), 2);
}

TEST_F(CheckCodeTest, FindsOneWrongElementOfMany) {
  std::vector<double> actual(300007, 1);
  const std::vector<float> expected(actual.size(), 1);
  actual[299999] = 2;
  actual[300003] = 3;
  const CheckCounts counts = Compare(DType::kF32, actual, expected, {});
  EXPECT_EQ(counts.mismatches, 2u);
  EXPECT_EQ(counts.first_mismatch(), 299999);
  EXPECT_EQ(counts.worst_absolute, 2);
}

TEST_F(CheckCodeTest, CountsDamageOutsideTheGap) {
  std::vector<uint8_t> bytes(100, 0xc3);
  for (int i = 40; i < 61; ++i) bytes[static_cast<size_t>(i)] = 1;
  bytes[0] = 2;
  const std::unique_ptr<Buffer> memory = Uploaded(AsBytes(bytes));
  const auto damage = [&](int64_t begin, int64_t end) {
    return Counted([&] { return checks_->CountDamage(memory.get(), begin, end, 100, 0xc3, counts_.get(), 1); })
        .damaged_bytes;
  };
  EXPECT_EQ(damage(40, 61), 1u);
  EXPECT_EQ(damage(40, 60), 2u);
  EXPECT_EQ(damage(41, 61), 2u);
  EXPECT_EQ(damage(0, 100), 0u);
}

TEST_F(CheckCodeTest, TheHashSeesChangesAndExchanges) {
  std::vector<uint32_t> words(1001);
  std::minstd_rand random(5);
  for (uint32_t& word : words) word = random();
  const auto hash = [&](const std::vector<uint32_t>& of) {
    const std::unique_ptr<Buffer> memory = Uploaded(AsBytes(of));
    return Counted([&] { return checks_->Hash(memory.get(), 4, 4002, counts_.get(), 1); }).hash;
  };
  const uint32_t before = hash(words);
  EXPECT_EQ(hash(words), before);
  std::vector<uint32_t> changed = words;
  changed[500] ^= 1;
  EXPECT_NE(hash(changed), before);
  changed = words;
  std::swap(changed[500], changed[501]);
  EXPECT_NE(hash(changed), before);
  changed = words;
  changed[0] ^= 1;
  EXPECT_EQ(hash(changed), before) << "the word is before the beginning";
}

}  // namespace
}  // namespace telemetry::worker::tune::measure
