#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/worker/device/device_fixture.h"

namespace telemetry::worker::device {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class DeviceProductTest : public DeviceTest {
 protected:
  bool HasLibrary() const { return device_->properties().dialect == Dialect::kCuda; }
};

// Computes [1 2 3; 4 5 6] [1 0; 0 1; 1 1], and the same with the first matrix times ten.
TEST_F(DeviceProductTest, MultipliesEachPairRowMajor) {
  const std::unique_ptr<Buffer> x = MakeBuffer({1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60});
  const std::unique_ptr<Buffer> y = MakeBuffer({1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1});
  const std::unique_ptr<Buffer> out = MakeBuffer(std::vector<float>(8, -1));
  const absl::Status status = device_->Multiply({.batch = 2,
                                                 .m = 2,
                                                 .n = 2,
                                                 .k = 3,
                                                 .x = MatrixOperand::Dense(x.get(), 2, 3),
                                                 .y = MatrixOperand::Dense(y.get(), 3, 2),
                                                 .out = out.get()});
  if (!HasLibrary()) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
    return;
  }
  ASSERT_EQ(status, absl::OkStatus());
  EXPECT_THAT(Values(*out), ElementsAre(4, 5, 10, 11, 40, 50, 100, 110));
}

// Computes the same with x in columns, with a gap behind each, and one y for both pairs.
TEST_F(DeviceProductTest, MultipliesMatricesInColumnsAndSharedOnes) {
  if (!HasLibrary()) GTEST_SKIP() << "no library of matrix products on " << device_->id();
  const std::unique_ptr<Buffer> x = MakeBuffer({1, 4, -1, 2, 5, -1, 3, 6, -1, 10, 40, -1, 20, 50, -1, 30, 60, -1});
  const std::unique_ptr<Buffer> y = MakeBuffer({1, 0, 0, 1, 1, 1});
  const std::unique_ptr<Buffer> out = MakeBuffer(std::vector<float>(8, -1));
  ASSERT_EQ(device_->Multiply({.batch = 2,
                               .m = 2,
                               .n = 2,
                               .k = 3,
                               .x = {.buffer = x.get(), .is_column_major = true, .leading = 3, .batch_stride = 9},
                               .y = {.buffer = y.get(), .leading = 2},
                               .out = out.get()}),
            absl::OkStatus());
  EXPECT_THAT(Values(*out), ElementsAre(4, 5, 10, 11, 40, 50, 100, 110));
}

TEST_F(DeviceProductTest, ASumOfNothingIsZero) {
  if (!HasLibrary()) GTEST_SKIP() << "no library of matrix products on " << device_->id();
  const std::unique_ptr<Buffer> empty = MakeBuffer({});
  const std::unique_ptr<Buffer> out = MakeBuffer(std::vector<float>(6, -1));
  ASSERT_EQ(device_->Multiply({.m = 2,
                               .n = 3,
                               .x = MatrixOperand::Dense(empty.get(), 2, 0),
                               .y = MatrixOperand::Dense(empty.get(), 0, 3),
                               .out = out.get()}),
            absl::OkStatus());
  EXPECT_THAT(Values(*out), Each(0));
}

TEST_F(DeviceProductTest, RefusesWhatLiesBeyondABufferAndOtherDTypes) {
  if (!HasLibrary()) GTEST_SKIP() << "no library of matrix products on " << device_->id();
  const std::unique_ptr<Buffer> small = MakeBuffer({1, 2});
  MatrixProduct product = {.m = 1,
                           .n = 1,
                           .k = 3,
                           .x = MatrixOperand::Dense(small.get(), 1, 3),
                           .y = MatrixOperand::Dense(small.get(), 3, 1),
                           .out = small.get()};
  const absl::Status beyond = device_->Multiply(product);
  EXPECT_EQ(beyond.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(beyond.message()), HasSubstr("matrix product, x: 12 bytes at offset 0 of a buffer of 8"));
  product.k = 1;
  product.dtype = DType::kI32;
  EXPECT_EQ(device_->Multiply(product).code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace telemetry::worker::device
