#include "worker/device/launch_checks.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/record/strings.h"
#include "worker/device/interop.h"

namespace telemetry::worker::device {
namespace {

// Beyond every device's limit; products of three such numbers do not overflow.
constexpr int kMostThreads = 1 << 20;

std::string RegistersText(int registers) {
  return registers == 0 ? "" : absl::StrCat(" with its ", registers, " registers per thread");
}

}  // namespace

absl::Status CheckRange(std::string_view what, size_t offset, size_t bytes, size_t size_bytes) {
  if (offset <= size_bytes && bytes <= size_bytes - offset) return absl::OkStatus();
  return absl::OutOfRangeError(
      record::Cat(what, ": ", bytes, " bytes at offset ", offset, " of a buffer of ", size_bytes, " bytes"));
}

absl::Status ForeignObject(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(std::string(what), ": not a buffer or event of this device"));
}

absl::Status CheckView(size_t offset, size_t bytes, size_t size_bytes) {
  if (offset % kViewAlignment == 0) return CheckRange("view", offset, bytes, size_bytes);
  return absl::InvalidArgumentError(
      absl::StrCat("view: offset ", offset, " is not a multiple of ", kViewAlignment, " bytes"));
}

absl::Status CheckProgramAddress(uint64_t address) {
  if (address == 0) return absl::InvalidArgumentError("the address is null");
  if (address % kInteropAlignment == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the address is ", address % kInteropAlignment,
                                                 " bytes above a multiple of ", kInteropAlignment,
                                                 ", which generated code requires; pass a copy of the tensor"));
}

absl::Status CheckProduct(const MatrixProduct& product) {
  constexpr int64_t kMost = 0x7fffffff;
  constexpr int64_t kMostElements = int64_t{1} << 40;
  for (const int64_t size : {product.batch, product.m, product.n, product.k, product.x.leading, product.y.leading}) {
    if (size < 0 || size > kMost) {
      return absl::OutOfRangeError(
          record::Cat("matrix product: a size of ", size, "; the library accepts 0 to ", kMost));
    }
  }
  for (const int64_t elements :
       {product.m * product.k, product.k * product.n, product.m * product.n,
        std::max(product.m, product.k) * product.x.leading, std::max(product.k, product.n) * product.y.leading,
        product.x.batch_stride, product.y.batch_stride}) {
    if (elements < 0 || elements > kMostElements / std::max<int64_t>(product.batch, 1)) {
      return absl::OutOfRangeError(
          record::Cat("matrix product: ", product.batch, " matrices of ", elements, " elements"));
    }
  }
  return absl::OkStatus();
}

size_t OperandBytes(const MatrixProduct& product, const MatrixOperand& operand, int64_t rows, int64_t columns) {
  if (product.batch == 0 || rows == 0 || columns == 0) return 0;
  if (operand.is_column_major) std::swap(rows, columns);
  const int64_t last = (product.batch - 1) * operand.batch_stride + (rows - 1) * operand.leading + columns - 1;
  return static_cast<size_t>(last + 1) * SizeOf(product.dtype);
}

absl::Status CheckShape(const std::string& kernel, const LaunchShape& shape, const LaunchLimits& limits) {
  if (shape.grid < 0 || shape.grid > limits.grid) {
    return absl::InvalidArgumentError(absl::StrCat("launch of ", kernel, ": a grid of ", shape.grid,
                                                   " blocks; the device accepts 0 to ", limits.grid));
  }
  for (const int64_t blocks : {shape.grid_y, shape.grid_z}) {
    if (blocks >= 1 && blocks <= limits.grid_yz) continue;
    return absl::InvalidArgumentError(absl::StrCat("launch of ", kernel, ": ", blocks,
                                                   " blocks in y or z; the device accepts 1 to ", limits.grid_yz));
  }
  for (const int threads : {shape.threads, shape.threads_y, shape.threads_z}) {
    if (threads >= 1 && threads <= kMostThreads) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("launch of ", kernel, ": ", threads, " threads per block; the minimum is 1"));
  }
  if (shape.block_threads() > limits.threads) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "launch of ", kernel, ": ", shape.block_threads(), " threads per block, but this compiled kernel supports ",
        limits.threads, " at most", RegistersText(limits.registers), ": choose fewer warps or smaller blocks"));
  }
  if (shape.shared_bytes > limits.shared_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("launch of ", kernel, ": ", shape.shared_bytes,
                                                     " bytes of shared memory, but this kernel can use ",
                                                     limits.shared_bytes, " at most: choose smaller blocks"));
  }
  return absl::OkStatus();
}

absl::Status CheckArgumentCount(const std::string& kernel, size_t given, size_t wanted) {
  if (given == wanted) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("launch of ", kernel, ": ", given, " arguments for ", wanted, " parameters"));
}

}  // namespace telemetry::worker::device
