#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/device/opencl_api.h"
#include "worker/device/opencl_platforms.h"

namespace telemetry::worker {

// An OpenCL device with a context and an in-order queue of its own, whose commands tell when they ran. Everything made
// in it shares it.
class OpenClContext {
 public:
  // INTERNAL: OpenCL's error.
  static absl::StatusOr<std::shared_ptr<const OpenClContext>> Create(const OpenClApi* api, OpenClDeviceEntry entry);

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

class OpenClBuffer final : public Buffer {
 public:
  OpenClBuffer(std::shared_ptr<const OpenClContext> context, OpenClMemoryHandle memory, size_t size_bytes)
      : context_(std::move(context)), memory_(std::move(memory)), size_bytes_(size_bytes) {}

  size_t size_bytes() const override { return size_bytes_; }
  uint64_t handle() const override { return reinterpret_cast<uint64_t>(memory_.get()); }
  const cl_mem& memory() const { return memory_.get(); }
  const OpenClContext* context() const { return context_.get(); }

 private:
  const std::shared_ptr<const OpenClContext> context_;
  const OpenClMemoryHandle memory_;
  const size_t size_bytes_;
};

// RESOURCE_EXHAUSTED: more than the device has, or gives at once.
absl::StatusOr<std::unique_ptr<Buffer>> AllocateOpenClBuffer(const std::shared_ptr<const OpenClContext>& context,
                                                             size_t size_bytes);

// As Device::View; the range was checked.
absl::StatusOr<std::unique_ptr<Buffer>> ViewOpenClBuffer(const std::shared_ptr<const OpenClContext>& context,
                                                         const OpenClBuffer& whole, size_t offset_bytes,
                                                         size_t size_bytes);

// The buffer as this context's own; nullptr where it is none (null, or another device's).
const OpenClBuffer* OwnBuffer(const OpenClContext& context, const Buffer* buffer);

}  // namespace telemetry::worker
