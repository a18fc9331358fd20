#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/device/device.h"
#include "worker/device/dtype.h"
#include "worker/ir/host_array.h"

namespace telemetry::worker {

// Sizes or strides: up to five dimensions without an allocation.
using Dimensions = absl::InlinedVector<int64_t, 5>;

// A tensor as kernels take and return it: how its elements lie, and a share of the memory that holds them, of a device
// or of the host. Copies are cheap and show the same memory. Element (i, j) is at i * strides[0] + j * strides[1].
struct Tensor {
  DType dtype = DType::kF32;
  Dimensions sizes;
  Dimensions strides;  // in elements, not negative

  // On a device both are set. On the host `host` is, with the same dtype, sizes and strides.
  std::shared_ptr<Device> device;
  std::shared_ptr<Buffer> buffer;
  std::shared_ptr<ir::HostArray> host;

  static Tensor OnHost(ir::HostArray array);

  int64_t element_count() const;
  // The elements that memory must have for this: one beyond the offset of the last; 0 where there is none.
  int64_t span() const;
  // "cuda", "opencl", "cpu".
  std::string_view device_type() const;
  // "cuda:0", "cpu".
  std::string device_id() const;
  // "Tensor(f16, [4096, 5120], strides [5120, 1], cuda:0)"
  std::string ToString() const;

  // The same layout and the same memory.
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

// Row major without gaps. A dimension of size 0 counts as 1.
Dimensions DenseStrides(absl::Span<const int64_t> sizes);

// "cuda" or "opencl".
std::string_view DeviceTypeName(Dialect dialect);

// Dense, the memory not initialised. Errors are Device::Allocate's.
absl::StatusOr<Tensor> AllocateTensor(std::shared_ptr<Device> device, DType dtype, absl::Span<const int64_t> sizes);

// Copies between host and device, layout and all. Errors are the device's; FAILED_PRECONDITION: the tensor is not where
// it would be copied from.
absl::StatusOr<Tensor> ToDevice(std::shared_ptr<Device> device, const ir::HostArray& array);
absl::StatusOr<ir::HostArray> ToHost(const Tensor& tensor);

// INVALID_ARGUMENT: sizes and strides differ in number or are negative, there is no memory, or it is too small for
// them.
absl::Status CheckTensor(const Tensor& tensor);

}  // namespace telemetry::worker
