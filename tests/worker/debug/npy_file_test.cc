#include "worker/debug/npy_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "worker/debug/dense_bytes.h"
#include "worker/ir/half.h"

namespace telemetry::worker::debug {
namespace {

using device::DType;

TEST(NpyFileTest, TheHeaderIsPythonsAndAligned) {
  const std::string header = NpyHeader(DType::kF32, {2, 3});
  EXPECT_EQ(header.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(header.substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
  EXPECT_EQ(header.size(), 128u);
  EXPECT_EQ(header.back(), '\n');
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>(), {1}, std::vector<int64_t>(12, 1000000)}) {
    const std::string of_sizes = NpyHeader(DType::kF32, sizes);
    EXPECT_EQ(of_sizes.size() % 64, 0u);
    EXPECT_EQ(static_cast<uint8_t>(of_sizes[8]) + 256 * static_cast<uint8_t>(of_sizes[9]), of_sizes.size() - 10);
  }
}

TEST(NpyFileTest, ShapesArePythonsTuples) {
  const auto contains = [](absl::Span<const int64_t> sizes, const char* shape) {
    return NpyHeader(DType::kBool, sizes).find(shape) != std::string::npos;
  };
  EXPECT_TRUE(contains({}, "'descr': '|b1', 'fortran_order': False, 'shape': (), "));
  EXPECT_TRUE(contains({7}, "'shape': (7,), "));
  EXPECT_TRUE(contains({0, 4}, "'shape': (0, 4), "));
}

TEST(NpyFileTest, EveryBF16IsAnF32) {
  std::vector<std::byte> dense(2 << 16);
  for (int i = 0; i < 1 << 16; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    std::memcpy(&dense[static_cast<size_t>(2 * i)], &bits, 2);
  }
  const std::vector<std::byte> wide = NpyElements(DType::kBF16, dense);
  ASSERT_EQ(wide.size(), 2 * dense.size());
  const std::vector<double> actual = DecodeValues(DType::kF32, wide);
  const std::vector<double> expected = DecodeValues(DType::kBF16, dense);
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(std::isnan(expected[i]) ? std::isnan(actual[i]) : actual[i] == expected[i]) << i;
  }
}

TEST(NpyFileTest, BoolsAreZeroOrOne) {
  const std::vector<std::byte> elements =
      NpyElements(DType::kBool, {std::byte{0}, std::byte{1}, std::byte{0xa5}, std::byte{2}});
  EXPECT_EQ(elements, (std::vector<std::byte>{std::byte{0}, std::byte{1}, std::byte{1}, std::byte{1}}));
}

}  // namespace
}  // namespace telemetry::worker::debug
