#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/device.h"

namespace telemetry::worker::device {

// Use of memory and streams of the program that calls kernels in its own process. Devices implement Interop beside
// Device, with the same thread rules.

// The required alignment of the program's memory, in bytes: the widest access of generated code.
inline constexpr size_t kInteropAlignment = 16;

// The use of a stream, from Interop::UseStream to the destruction of this object.
class StreamUse {
 public:
  virtual ~StreamUse() = default;
};

// A device that uses memory and streams of the program.
class Interop {
 public:
  virtual ~Interop() = default;

  // Returns memory of the program as a buffer. Copies nothing. `address` is a CUDA address, or a host address if
  // on_host(). `owner` is released with the last buffer that uses the memory, on OpenCL after the work that is queued
  // then; if it is null, the program keeps the memory until all work on it is done. INVALID_ARGUMENT: the address is
  // not a multiple of kInteropAlignment, or not memory of this device. An empty buffer may have any address.
  virtual absl::StatusOr<std::unique_ptr<Buffer>> Wrap(uint64_t address, size_t size_bytes,
                                                       std::shared_ptr<const void> owner) = 0;
  // Allocates memory that the program can use by its address. RESOURCE_EXHAUSTED: there is not enough memory.
  virtual absl::StatusOr<std::unique_ptr<Buffer>> AllocateAddressable(size_t size_bytes) = 0;

  // Returns true if addresses are addresses of the host, as for OpenCL.
  virtual bool on_host() const = 0;
  // Returns the address of a buffer. FAILED_PRECONDITION: the buffer has none; on OpenCL only those of Wrap and
  // AllocateAddressable have one.
  virtual absl::StatusOr<uint64_t> Address(const Buffer& buffer) const = 0;
  // Makes the contents of a buffer with an address visible there. CUDA: does nothing, because the program orders its
  // own reads after the kernel. OpenCL: waits for all queued work.
  virtual absl::Status Publish(Buffer* buffer) = 0;

  // Queues the device's work in a stream of the program until the returned object is destroyed, which also makes the
  // calling thread's earlier CUDA context current again. `stream` is a CUstream (0: the legacy default stream); unset:
  // the device's own stream. The program keeps the stream until then, and the object must not outlive the device. Uses
  // must not overlap. UNIMPLEMENTED: `stream` is set, and the device is not a CUDA device.
  virtual absl::StatusOr<std::unique_ptr<StreamUse>> UseStream(std::optional<uint64_t> stream) = 0;
};

// UNIMPLEMENTED: the device has no Interop.
absl::StatusOr<Interop*> InteropOf(Device& device);

}  // namespace telemetry::worker::device
