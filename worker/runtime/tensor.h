#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/device/device.h"
#include "worker/device/dtype.h"
#include "worker/ir/host_array.h"

namespace telemetry::worker::runtime {

// Sizes or strides. Up to five dimensions need no allocation.
using Dimensions = absl::InlinedVector<int64_t, 5>;

// A tensor argument or result of a kernel: the layout of its elements and a reference to their memory, on a device or
// on the host. Copies are cheap and share the memory. Element (i, j) is at i * strides[0] + j * strides[1].
struct Tensor {
  device::DType dtype = device::DType::kF32;
  Dimensions sizes;
  Dimensions strides;  // in elements, not negative

  // On a device, `device` and `buffer` are set. On the host, `host` is set, with the same dtype, sizes and strides.
  std::shared_ptr<device::Device> device;
  std::shared_ptr<device::Buffer> buffer;
  std::shared_ptr<ir::HostArray> host;

  static Tensor OnHost(ir::HostArray array);

  int64_t element_count() const;
  // Returns the number of elements that the memory must have: the offset of the last element plus one; 0 if there is
  // none.
  int64_t span() const;
  // Returns "cuda", "opencl" or "cpu".
  std::string_view device_type() const;
  // Returns a name such as "cuda:0", or "cpu".
  std::string device_id() const;
  // Returns a text such as "Tensor(f16, [4096, 5120], strides [5120, 1], cuda:0)".
  std::string ToString() const;

  // Returns true if both have the same layout and the same memory.
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

// Returns row-major strides without gaps. A dimension of size 0 counts as 1. A stride that int64_t cannot hold is its
// largest value.
Dimensions DenseStrides(absl::Span<const int64_t> sizes);

// Returns "cuda" or "opencl".
std::string_view DeviceTypeName(device::Dialect dialect);

// Returns a dense tensor whose memory is not initialised. Returns the errors of Device::Allocate.
absl::StatusOr<Tensor> AllocateTensor(std::shared_ptr<device::Device> device, device::DType dtype,
                                      absl::Span<const int64_t> sizes);

// Returns a tensor with the array's layout on the device, but without memory there: kernels are bound to it and
// requests to measure them are made from it, and whatever would use its memory fails with INVALID_ARGUMENT.
Tensor DescribeOnDevice(std::shared_ptr<device::Device> device, const ir::HostArray& array);

// Copy a tensor with its layout between host and device. Return the errors of the device. FAILED_PRECONDITION: the
// tensor has no memory to copy from.
absl::StatusOr<Tensor> ToDevice(std::shared_ptr<device::Device> device, const ir::HostArray& array);
absl::StatusOr<ir::HostArray> ToHost(const Tensor& tensor);
// Returns the tensor's memory as it is on a device: the elements and the gaps between them.
absl::StatusOr<std::vector<std::byte>> BytesOf(const Tensor& tensor);

// INVALID_ARGUMENT: sizes and strides differ in number or are negative, there is no memory, or the memory is too small.
absl::Status CheckTensor(const Tensor& tensor);

}  // namespace telemetry::worker::runtime
