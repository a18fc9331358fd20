#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "worker/device/device.h"

namespace telemetry::worker::device {

// Checks that both kinds of device make before they call the driver.

// OUT_OF_RANGE: [offset, offset + bytes) exceeds a buffer of `size_bytes`. The message begins with `what`.
absl::Status CheckRange(std::string_view what, size_t offset, size_t bytes, size_t size_bytes);

// Returns INVALID_ARGUMENT: `what` got a buffer or event of another device.
absl::Status ForeignObject(std::string_view what);

// Checks the range of a view. INVALID_ARGUMENT: the offset is not a multiple of kViewAlignment. OUT_OF_RANGE: see
// CheckRange.
absl::Status CheckView(size_t offset, size_t bytes, size_t size_bytes);

// INVALID_ARGUMENT: the address of a program's memory is null or not a multiple of kInteropAlignment.
absl::Status CheckProgramAddress(uint64_t address);

// OUT_OF_RANGE: a size or a leading dimension is negative or exceeds 2^31 - 1, or a batch of matrices exceeds 2^40
// elements. OperandBytes() does not overflow for a product that passes this check.
absl::Status CheckProduct(const MatrixProduct& product);
// Returns the bytes from the first to the last element of an operand whose matrices have `rows` by `columns` elements.
// The product must have passed CheckProduct.
size_t OperandBytes(const MatrixProduct& product, const MatrixOperand& operand, int64_t rows, int64_t columns);

// The limits of a kernel's launches.
struct LaunchLimits {
  int64_t grid = 0;
  int64_t grid_yz = 65535;  // in y, and in z
  int threads = 0;          // in all dimensions together
  int registers = 0;        // of a thread, which the number of threads depends on; 0: not known
  size_t shared_bytes = 0;  // dynamic: the remainder after the kernel's static memory
};

// Messages name the kernel, the value and the limit. RESOURCE_EXHAUSTED: more threads or shared memory than this kernel
// supports; another config of it may fit. INVALID_ARGUMENT: the shape is invalid for every kernel.
absl::Status CheckShape(const std::string& kernel, const LaunchShape& shape, const LaunchLimits& limits);

// INVALID_ARGUMENT: the number of arguments differs from the number of parameters.
absl::Status CheckArgumentCount(const std::string& kernel, size_t given, size_t wanted);

}  // namespace telemetry::worker::device
