#include "worker/tune/measure/tensor_element.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace telemetry::worker::tune::measure {
namespace {

using device::DType;
using testing::ElementsAre;

wire::Buffer BufferWith(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  wire::Buffer buffer;
  buffer.mutable_sizes()->Add(sizes.begin(), sizes.end());
  buffer.mutable_strides()->Add(strides.begin(), strides.end());
  return buffer;
}

TEST(TensorElementTest, FindsTheIndexWhateverTheStrides) {
  EXPECT_THAT(IndexOfElement(23, BufferWith({4, 10}, {10, 1})), ElementsAre(2, 3));
  EXPECT_THAT(IndexOfElement(23, BufferWith({10, 4}, {1, 10})), ElementsAre(3, 2));
  EXPECT_THAT(IndexOfElement(23, BufferWith({2, 5, 10}, {12, 0, 1})), ElementsAre(1, 0, 9));
  EXPECT_THAT(IndexOfElement(0, BufferWith({}, {})), ElementsAre());
}

TEST(TensorElementTest, ReadsEveryType) {
  const std::vector<std::byte> one = {std::byte{0x00}, std::byte{0x3c}, std::byte{0x80}, std::byte{0x3f}};
  EXPECT_EQ(ValueOfElement(absl::MakeConstSpan(one).subspan(0, 2), DType::kF16), 1);
  EXPECT_EQ(ValueOfElement(absl::MakeConstSpan(one).subspan(2, 2), DType::kBF16), 1);
  EXPECT_EQ(ValueOfElement(absl::MakeConstSpan(one).subspan(2, 1), DType::kBool), 0x80);
  EXPECT_EQ(ValueOfElement(one, DType::kI32), 0x3f803c00);
  EXPECT_NEAR(ValueOfElement(one, DType::kF32), 1.00183, 1e-5);
}

}  // namespace
}  // namespace telemetry::worker::tune::measure
