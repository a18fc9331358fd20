#include "worker/ir/half.h"

#include <bit>
#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/ir/host_array.h"

namespace telemetry::worker::ir {
namespace {

using device::DType;

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(HalfTest, GivesBackEveryF16AndBF16) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const auto pattern = static_cast<uint16_t>(bits);
    const double half = DecodeF16(pattern);
    if (std::isnan(half)) {
      EXPECT_TRUE(std::isnan(DecodeF16(EncodeF16(half))));
    } else {
      ASSERT_EQ(EncodeF16(half), pattern);
      ASSERT_EQ(RoundTo(DType::kF16, half), half);
    }
    const double brain = DecodeBF16(pattern);
    if (std::isnan(brain)) {
      EXPECT_TRUE(std::isnan(DecodeBF16(EncodeBF16(brain))));
    } else {
      ASSERT_EQ(EncodeBF16(brain), pattern);
      ASSERT_EQ(RoundTo(DType::kBF16, brain), brain);
    }
  }
}

TEST(HalfTest, KnowsItsValues) {
  EXPECT_EQ(DecodeF16(0x3C00), 1);
  EXPECT_EQ(DecodeF16(0xC000), -2);
  EXPECT_EQ(DecodeF16(0x7BFF), 65504);
  EXPECT_EQ(DecodeF16(0x0001), 0x1p-24);
  EXPECT_EQ(DecodeF16(0x0400), 0x1p-14);
  EXPECT_EQ(DecodeF16(0xFC00), -kInf);
  EXPECT_EQ(DecodeBF16(0x3F80), 1);
  EXPECT_EQ(DecodeBF16(0x0001), 0x1p-133);
}

// Checks that a value between two neighbours is rounded to the nearer one, and the middle to the one whose last bit is
// 0.
TEST(HalfTest, RoundsToNearestEven) {
  for (int bits = 0; bits < 0x7BFF; ++bits) {
    const double low = DecodeF16(static_cast<uint16_t>(bits));
    const double high = DecodeF16(static_cast<uint16_t>(bits + 1));
    const double middle = (low + high) / 2;
    ASSERT_EQ(EncodeF16(middle), bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(EncodeF16(std::nextafter(middle, 0)), bits);
    ASSERT_EQ(EncodeF16(std::nextafter(middle, kInf)), bits + 1);
  }
  EXPECT_EQ(RoundTo(DType::kF16, 65519.99), 65504);
  EXPECT_EQ(RoundTo(DType::kF16, 65520), kInf);
  EXPECT_EQ(RoundTo(DType::kBF16, 1 + 0x1p-8), 1);
  EXPECT_EQ(RoundTo(DType::kBF16, 1 + 3 * 0x1p-8), 1 + 0x1p-6);
  EXPECT_EQ(RoundTo(DType::kBF16, 3.4e38), kInf);
  EXPECT_EQ(RoundTo(DType::kF32, 1 + 0x1p-24), 1);
}

TEST(HalfTest, TruncatesAndSaturatesIntegers) {
  EXPECT_EQ(RoundTo(DType::kI32, -2.9), -2);
  EXPECT_EQ(RoundTo(DType::kI32, 1e20), 2147483647);
  EXPECT_EQ(RoundTo(DType::kI32, -kInf), -2147483648.0);
  EXPECT_EQ(RoundTo(DType::kI32, std::nan("")), 0);
  EXPECT_EQ(RoundTo(DType::kBool, -0.5), 1);
  EXPECT_EQ(Wrap(DType::kI32, uint64_t{2147483647} + 1), -2147483648.0);
  EXPECT_EQ(Wrap(DType::kI32, uint64_t{65536} * 65536), 0);
  EXPECT_EQ(Wrap(DType::kI8, 200), -56);
  EXPECT_EQ(Wrap(DType::kU8, static_cast<uint64_t>(-1)), 255);
  EXPECT_EQ(Wrap(DType::kU32, static_cast<uint64_t>(-1)), 4294967295.0);
  EXPECT_EQ(Wrap(DType::kI64, static_cast<uint64_t>(-1)), -1);
  EXPECT_EQ(ConvertTo(DType::kI16, DType::kI64, 65537), 1);
  EXPECT_EQ(ConvertTo(DType::kU64, DType::kI8, -1), 0x1p64);
  EXPECT_EQ(ConvertTo(DType::kU8, DType::kF32, 300.5), 255);
}

TEST(HostArrayTest, ComesBackFromItsBytes) {
  for (const DType dtype : device::kAllDTypes) {
    HostArray array = HostArray::Dense(dtype, {5});
    array.SetRowMajor({-1.5, 0, 1, 2.25, 100});
    HostArray copy = HostArray::Dense(dtype, {5});
    const std::vector<std::byte> bytes = ToBytes(array);
    EXPECT_EQ(bytes.size(), 5 * SizeOf(dtype));
    ASSERT_TRUE(FromBytes(bytes, &copy).ok());
    EXPECT_EQ(copy.data, array.data) << ShortName(dtype);
    EXPECT_FALSE(FromBytes(absl::MakeConstSpan(bytes).subspan(1), &copy).ok());
  }
}

TEST(HostArrayTest, KeepsGapsBetweenItsElements) {
  HostArray array = HostArray::Strided(DType::kF32, {2, 2}, {5, 2});
  EXPECT_EQ(array.data.size(), 8U);
  array.SetRowMajor({1, 2, 3, 4});
  EXPECT_EQ(array.At({1, 0}), 3);
  EXPECT_TRUE(std::isnan(array.data[1]));
  EXPECT_THAT(array.RowMajor(), testing::ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace telemetry::worker::ir
