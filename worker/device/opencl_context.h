#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/device/opencl_api.h"
#include "worker/device/opencl_platforms.h"

namespace telemetry::worker::device {

// An OpenCL device with its own context and an in-order queue that records when its commands ran. Objects of the
// context share it.
class OpenClContext {
 public:
  // INTERNAL: an error of OpenCL.
  static absl::StatusOr<std::shared_ptr<const OpenClContext>> Create(const OpenClApi* api, OpenClDeviceEntry entry);
  // Waits for the queued work. PoCL compiles kernels when they run, and aborts the program if it ends meanwhile.
  ~OpenClContext();
  OpenClContext(const OpenClContext&) = delete;
  OpenClContext& operator=(const OpenClContext&) = delete;

  const OpenClApi& api() const { return *api_; }
  const DeviceProperties& properties() const { return entry_.properties; }
  bool takes_binaries() const { return entry_.takes_binaries; }
  cl_device_id device() const { return entry_.device; }
  cl_context get() const { return context_.get(); }
  cl_command_queue queue() const { return queue_.get(); }

 private:
  OpenClContext(const OpenClApi* api, OpenClDeviceEntry entry) : api_(api), entry_(std::move(entry)) {}

  const OpenClApi* const api_;
  const OpenClDeviceEntry entry_;
  OpenClContextHandle context_;
  OpenClQueueHandle queue_;
};

// Device memory in an OpenCL context, or a view of it.
class OpenClBuffer final : public Buffer {
 public:
  OpenClBuffer(std::shared_ptr<const OpenClContext> context, OpenClMemoryHandle memory, size_t size_bytes)
      : context_(std::move(context)), memory_(std::move(memory)), size_bytes_(size_bytes) {}
  // Creates a buffer of memory that was made with the host memory at `host`, or a view of such a buffer (`host` is then
  // null). `owner` keeps the host memory; it may be null.
  OpenClBuffer(std::shared_ptr<const OpenClContext> context, OpenClMemoryHandle memory, size_t size_bytes, void* host,
               std::shared_ptr<const void> owner)
      : context_(std::move(context)),
        owner_(std::move(owner)),
        memory_(std::move(memory)),
        size_bytes_(size_bytes),
        host_(host) {}

  size_t size_bytes() const override { return size_bytes_; }
  uint64_t handle() const override { return reinterpret_cast<uint64_t>(memory_.get()); }
  const cl_mem& memory() const { return memory_.get(); }
  const OpenClContext* context() const { return context_.get(); }
  // Null if the memory was not made with host memory.
  void* host() const { return host_; }
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  const std::shared_ptr<const OpenClContext> context_;
  const std::shared_ptr<const void> owner_;  // outlives memory_
  const OpenClMemoryHandle memory_;
  const size_t size_bytes_;
  void* const host_ = nullptr;
};

// RESOURCE_EXHAUSTED: the size exceeds the device's memory or its limit for one allocation.
absl::StatusOr<std::unique_ptr<Buffer>> AllocateOpenClBuffer(const std::shared_ptr<const OpenClContext>& context,
                                                             size_t size_bytes);

// Implements Interop::Wrap.
absl::StatusOr<std::unique_ptr<Buffer>> WrapHostMemory(const std::shared_ptr<const OpenClContext>& context,
                                                       uint64_t address, size_t size_bytes,
                                                       std::shared_ptr<const void> owner);

// Implements Device::View for a range that was checked.
absl::StatusOr<std::unique_ptr<Buffer>> ViewOpenClBuffer(const std::shared_ptr<const OpenClContext>& context,
                                                         const OpenClBuffer& whole, size_t offset_bytes,
                                                         size_t size_bytes);

// Returns the buffer as an object of this context; null if it is null or belongs to another device.
const OpenClBuffer* OwnBuffer(const OpenClContext& context, const Buffer* buffer);

}  // namespace telemetry::worker::device
