#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/device/device.h"
#include "worker/runtime/dlpack.h"
#include "worker/runtime/tensor.h"

namespace telemetry::worker::runtime {

// Tensors over memory of the program that calls kernels in its own process (device/interop.h), and the exchange of
// tensors through DLPack.

// A tensor's memory in the program.
struct ProgramMemory {
  uint64_t address = 0;  // of the allocation: a CUDA address, or a host address for an OpenCL device
  int64_t offset = 0;    // of the first element, in elements; not negative
  device::DType dtype = device::DType::kF32;
  Dimensions sizes;
  Dimensions strides;                 // in elements, not negative; empty: dense and row-major
  std::shared_ptr<const void> owner;  // released with the last copy of the tensor; null: the program keeps the memory
};

// Returns a tensor over the program's memory. Copies nothing. A dimension of one element gets the stride that it has in
// a dense tensor, so that its stride makes no other code. INVALID_ARGUMENT: a negative offset, size or stride,
// different numbers of sizes and strides, or an address that Interop::Wrap refuses; the message contains the layout and
// the reason.
absl::StatusOr<Tensor> WrapProgramMemory(std::shared_ptr<device::Device> device, const ProgramMemory& memory);

// Allocates a dense tensor that is not initialised, in memory that the program can use (ToDlpack). Returns the errors
// of Interop::AllocateAddressable.
absl::StatusOr<Tensor> AllocateProgramTensor(std::shared_ptr<device::Device> device, device::DType dtype,
                                             absl::Span<const int64_t> sizes);

// INVALID_ARGUMENT: an output shares memory with an input or another output. Kernels read inputs while they write.
// All tensors are of WrapProgramMemory or AllocateProgramTensor, on one device. Ranges are compared from the first to
// the last element.
absl::Status CheckNoOverlap(absl::Span<const Tensor* const> inputs, absl::Span<const Tensor> outputs);

// The use of a tensor that is imported.
enum class Access { kRead, kReadAndWrite };

// Returns a tensor over the memory of a DLPack tensor: of the same CUDA device, pinned or managed for a CUDA device,
// and of the host for an OpenCL device. The program keeps the memory. INVALID_ARGUMENT: the errors of
// WrapProgramMemory, a tensor of another device, or an element type without a DType; the message lists those with one.
absl::StatusOr<Tensor> BorrowDlpack(std::shared_ptr<device::Device> device, const dlpack::DLTensor& tensor);

// Take over a tensor: its deleter is called with the last copy of the result, or before an error is returned. Return
// the errors of BorrowDlpack. INVALID_ARGUMENT (versioned): a major version other than 1, or a read-only tensor for
// kReadAndWrite.
absl::StatusOr<Tensor> FromDlpack(std::shared_ptr<device::Device> device, dlpack::DLManagedTensor* managed);
absl::StatusOr<Tensor> FromDlpack(std::shared_ptr<device::Device> device, dlpack::DLManagedTensorVersioned* managed,
                                  Access access);

// Return the tensor for another library, which calls the deleter. The memory lives until then. FAILED_PRECONDITION: the
// memory has no address in this program (Interop::Address), or the tensor is on the host.
absl::StatusOr<dlpack::DLManagedTensor*> ToDlpack(const Tensor& tensor);
absl::StatusOr<dlpack::DLManagedTensorVersioned*> ToVersionedDlpack(const Tensor& tensor);

}  // namespace telemetry::worker::runtime
