#include "worker/runtime/tensor.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/runtime/fake_device.h"

namespace telemetry::worker::runtime {
namespace {

using device::DType;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TensorTest : public ::testing::Test {
 protected:
  std::shared_ptr<device::Device> device_ = std::make_shared<FakeDevice>();
};

TEST_F(TensorTest, DenseStridesSkipEmptyDimensions) {
  EXPECT_THAT(DenseStrides({2, 3, 4}), ElementsAre(12, 4, 1));
  EXPECT_THAT(DenseStrides({2, 0, 4}), ElementsAre(4, 4, 1));
  EXPECT_TRUE(DenseStrides({}).empty());
}

TEST_F(TensorTest, SpanReachesTheLastElement) {
  EXPECT_EQ(StridedOn(device_, {2, 3}, {10, 2}).span(), 15);
  EXPECT_EQ(StridedOn(device_, {2, 0}, {10, 2}).span(), 0);
  EXPECT_EQ(StridedOn(device_, {2, 3}, {0, 0}).span(), 1);
}

TEST_F(TensorTest, GoesToADeviceAndBackWithItsLayout) {
  for (const DType dtype : device::kAllDTypes) {
    ir::HostArray array = ir::HostArray::Strided(dtype, {2, 3}, {4, 1});
    array.SetRowMajor(std::vector<double>{0, 1, 1, 0, 1, 0});
    const Tensor tensor = *ToDevice(device_, array);
    EXPECT_EQ(CheckTensor(tensor), absl::OkStatus());
    const ir::HostArray back = *ToHost(tensor);
    EXPECT_EQ(back.dtype, dtype);
    EXPECT_EQ(back.strides, array.strides);
    EXPECT_EQ(back.RowMajor(), array.RowMajor());
  }
}

TEST_F(TensorTest, AnEmptyTensorGoesToADeviceAndBack) {
  const Tensor tensor = *ToDevice(device_, ir::HostArray::Dense(DType::kF32, {0, 3}));
  EXPECT_EQ(CheckTensor(tensor), absl::OkStatus());
  EXPECT_TRUE(ToHost(tensor)->data.empty());
}

TEST_F(TensorTest, IsDescribedWithoutMemory) {
  const ir::HostArray array = ir::HostArray::Strided(DType::kF16, {2, 3}, {4, 1});
  const Tensor tensor = DescribeOnDevice(device_, array);
  EXPECT_EQ(CheckTensor(tensor), absl::OkStatus());
  EXPECT_EQ(tensor.ToString(), ToDevice(device_, array)->ToString());
}

TEST_F(TensorTest, WhatHasTooLittleMemoryIsRefused) {
  Tensor tensor = TensorOn(device_, {4, 8});
  tensor.strides = {16, 1};
  EXPECT_THAT(std::string(CheckTensor(tensor).message()), HasSubstr("needs 56 elements and has 32"));
  tensor.strides = {-8, 1};
  EXPECT_THAT(std::string(CheckTensor(tensor).message()), HasSubstr("a negative stride"));
  tensor.strides = {1};
  EXPECT_THAT(std::string(CheckTensor(tensor).message()),
              HasSubstr("the number of strides differs from the number of sizes"));
  tensor = TensorOn(device_, {4});
  tensor.buffer = nullptr;
  EXPECT_THAT(std::string(CheckTensor(tensor).message()), HasSubstr("a device without memory"));
}

}  // namespace
}  // namespace telemetry::worker::runtime
