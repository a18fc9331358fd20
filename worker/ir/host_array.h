#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/device/dtype.h"

namespace telemetry::worker::ir {

// A tensor on the host: what the reference reads and writes, and what device tests upload and compare. Elements are
// doubles that the dtype can hold, in the order of memory: element (i, j) is data[i * strides[0] + j * strides[1]].
// Strides may leave gaps or repeat elements (0); they are not negative. Plain data.
struct HostArray {
  DType dtype = DType::kF32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;  // in elements
  std::vector<double> data;

  // Row major without gaps, every element as FillValue says.
  static HostArray Dense(DType dtype, std::vector<int64_t> sizes);
  // With these strides; gaps included.
  static HostArray Strided(DType dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides);

  int64_t element_count() const;
  size_t OffsetOf(absl::Span<const int64_t> index) const;
  double At(absl::Span<const int64_t> index) const { return data[OffsetOf(index)]; }
  // Every element in row-major order, whatever the strides.
  std::vector<double> RowMajor() const;
  // Rounds each to the dtype. `values` has element_count() of them in row-major order.
  void SetRowMajor(absl::Span<const double> values);
};

// What memory holds that nobody has written: NaN, or an integer that stands out. True for bool.
double FillValue(DType dtype);

std::vector<int64_t> RowMajorStrides(absl::Span<const int64_t> sizes);

// The bytes of data in a device's memory, little endian, bool as one byte.
std::vector<std::byte> ToBytes(const HostArray& array);
// The reverse; `array` says dtype, sizes and strides. INVALID_ARGUMENT: another number of bytes.
absl::Status FromBytes(absl::Span<const std::byte> bytes, HostArray* array);

}  // namespace telemetry::worker::ir
