#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/device/dtype.h"

namespace telemetry::worker::ir {

// A tensor on the host. The reference reads and writes it; device tests upload and compare it. Elements are doubles
// that the dtype can hold, in the order of memory: element (i, j) is data[i * strides[0] + j * strides[1]]. Strides may
// leave gaps or repeat elements (0); they are not negative. Integers of 64 bits are exact up to 2^53; larger ones are
// the nearest double. Plain data.
struct HostArray {
  device::DType dtype = device::DType::kF32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;  // in elements
  std::vector<double> data;

  // Returns a row-major array without gaps. Every element is FillValue(dtype).
  static HostArray Dense(device::DType dtype, std::vector<int64_t> sizes);
  // Returns an array with these strides. Elements and gaps are FillValue(dtype).
  static HostArray Strided(device::DType dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides);

  int64_t element_count() const;
  size_t ElementOffset(absl::Span<const int64_t> index) const;
  double At(absl::Span<const int64_t> index) const { return data[ElementOffset(index)]; }
  // Returns all elements in row-major order, whatever the strides.
  std::vector<double> RowMajor() const;
  // Sets all elements, each rounded to the dtype. `values` has element_count() elements in row-major order.
  void SetRowMajor(absl::Span<const double> values);
};

// Returns the value of memory that was never written: NaN, a conspicuous integer, or true for bool.
double FillValue(device::DType dtype);

// Returns the strides of a row-major tensor without gaps, in elements.
std::vector<int64_t> RowMajorStrides(absl::Span<const int64_t> sizes);

// Returns the data as bytes of device memory: little endian, bool as one byte.
std::vector<std::byte> ToBytes(const HostArray& array);
// Reads the data of `array` from bytes of device memory. The caller has set dtype, sizes and strides. INVALID_ARGUMENT:
// the number of bytes is wrong.
absl::Status FromBytes(absl::Span<const std::byte> bytes, HostArray* array);

}  // namespace telemetry::worker::ir
