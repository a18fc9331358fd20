#include "worker/device/launch_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace telemetry::worker::device {
namespace {

TEST(LaunchChecksTest, RangesEndWithTheBuffer) {
  EXPECT_EQ(CheckRange("copy", 0, 8, 8), absl::OkStatus());
  EXPECT_EQ(CheckRange("copy", 8, 0, 8), absl::OkStatus());
  EXPECT_EQ(CheckRange("copy", 0, 9, 8).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(CheckRange("copy", 9, 0, 8).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(CheckRange("copy", 4, SIZE_MAX, 8).code(), absl::StatusCode::kOutOfRange);
}

TEST(LaunchChecksTest, ProductsOfSizesThatTheLibraryCanCount) {
  EXPECT_EQ(CheckProduct({.batch = 16, .m = 512, .n = 0, .k = 0x7fffff}), absl::OkStatus());
  EXPECT_EQ(CheckProduct({.m = -1}).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(CheckProduct({.k = int64_t{1} << 31}).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(CheckProduct({.batch = 0x7fffffff, .m = 0x7fffffff, .k = 1}).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(CheckProduct({.m = 4, .k = 1, .x = {.leading = int64_t{1} << 31}}).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(CheckProduct({.batch = 2, .x = {.batch_stride = -1}}).code(), absl::StatusCode::kOutOfRange);
  const MatrixProduct product = {.dtype = DType::kF16, .batch = 3};
  EXPECT_EQ(OperandBytes(product, MatrixOperand::Dense(nullptr, 5, 7), 5, 7), 210);
  const MatrixOperand columns = {.is_column_major = true, .leading = 6, .batch_stride = 100};
  EXPECT_EQ(OperandBytes(product, columns, 5, 7), 2 * (2 * 100 + 6 * 6 + 4 + 1));
}

TEST(LaunchChecksTest, ShapesMayReachTheirLimits) {
  const LaunchLimits limits = {.grid = 100, .threads = 64, .shared_bytes = 1000};
  EXPECT_EQ(CheckShape("k", {.grid = 100, .threads = 64, .shared_bytes = 1000}, limits), absl::OkStatus());
  EXPECT_EQ(CheckShape("k", {.grid = 0, .threads = 1}, limits), absl::OkStatus());
  for (const LaunchShape& shape : {LaunchShape{.grid = 101}, LaunchShape{.grid = -1}, LaunchShape{.threads = 0}}) {
    EXPECT_EQ(CheckShape("k", shape, limits).code(), absl::StatusCode::kInvalidArgument);
  }
}

// Tests that a config that does not fit gets an error of its own, because another config may fit.
TEST(LaunchChecksTest, WhatAKernelHasNoRoomForIsExhausted) {
  const LaunchLimits limits = {.grid = 100, .threads = 64, .shared_bytes = 1000};
  EXPECT_EQ(CheckShape("k", {.threads = 65}, limits).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(CheckShape("k", {.shared_bytes = 1001}, limits).code(), absl::StatusCode::kResourceExhausted);
}

TEST(LaunchChecksTest, ShapesAreRefusedWithTheLimit) {
  const absl::Status status = CheckShape("softmax", {.threads = 2048}, {.grid = 1, .threads = 1024});
  EXPECT_THAT(std::string(status.message()),
              testing::AllOf(testing::HasSubstr("softmax"), testing::HasSubstr("2048"), testing::HasSubstr("1024")));
}

}  // namespace
}  // namespace telemetry::worker::device
