#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "worker/device/device.h"

namespace telemetry::worker {

// What both kinds of device refuse before a driver sees it.

// OUT_OF_RANGE: [offset, offset + bytes) is not inside a buffer of `size_bytes`. `what` begins the message.
absl::Status CheckRange(std::string_view what, size_t offset, size_t bytes, size_t size_bytes);

// As Device::View: also INVALID_ARGUMENT for an offset that is not a multiple of kViewAlignment.
absl::Status CheckView(size_t offset, size_t bytes, size_t size_bytes);

// OUT_OF_RANGE: a size is negative or beyond 2^31 - 1. Then the bytes below do not overflow.
absl::Status CheckProduct(const MatrixProduct& product);
// Of as many matrices as the product has pairs. Of a checked product.
size_t ProductBytes(const MatrixProduct& product, int64_t rows, int64_t columns);

// What a kernel may be launched with.
struct LaunchLimits {
  int64_t grid = 0;
  int threads = 0;
  size_t shared_bytes = 0;  // dynamic: what the kernel's static memory leaves
};

// Both errors name the kernel, the value and the limit. RESOURCE_EXHAUSTED: more threads or shared memory than there is
// for this kernel; another config of it may fit. INVALID_ARGUMENT: no launch has such a shape.
absl::Status CheckShape(const std::string& kernel, const LaunchShape& shape, const LaunchLimits& limits);

// INVALID_ARGUMENT: another number of arguments than the kernel has parameters.
absl::Status CheckArgumentCount(const std::string& kernel, size_t given, size_t wanted);

}  // namespace telemetry::worker
