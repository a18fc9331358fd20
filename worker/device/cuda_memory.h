#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "worker/device/cuda_context.h"
#include "worker/device/device.h"

namespace telemetry::worker::device {

// Device memory in a CUDA context, or a view of it.
class CudaBuffer final : public Buffer {
 public:
  CudaBuffer(CudaMemoryHandle memory, size_t size_bytes)
      : memory_(std::make_shared<const CudaMemoryHandle>(std::move(memory))),
        pointer_(memory_->get()),
        size_bytes_(size_bytes) {}
  // Creates a view.
  CudaBuffer(const CudaBuffer& whole, size_t offset_bytes, size_t size_bytes)
      : memory_(whole.memory_), pointer_(whole.pointer_ + offset_bytes), size_bytes_(size_bytes) {}

  size_t size_bytes() const override { return size_bytes_; }
  uint64_t handle() const override { return pointer_; }
  // Returns the address of the pointer, which a launch needs for its argument.
  const CUdeviceptr& pointer() const { return pointer_; }
  const CudaContext* context() const { return memory_->context().get(); }

 private:
  const std::shared_ptr<const CudaMemoryHandle> memory_;
  const CUdeviceptr pointer_;
  size_t size_bytes_;
};

// An event of a CUDA stream.
class CudaEvent final : public Event {
 public:
  explicit CudaEvent(CudaEventHandle event) : event_(std::move(event)) {}

  CUevent get() const { return event_.get(); }
  const CudaContext* context() const { return event_.context().get(); }

 private:
  CudaEventHandle event_;
};

// RESOURCE_EXHAUSTED: the device's memory is full.
absl::StatusOr<std::unique_ptr<Buffer>> AllocateCudaBuffer(const std::shared_ptr<const CudaContext>& context,
                                                           size_t size_bytes);

// Returns the buffer or event as an object of this context; null if it is null or belongs to another device.
const CudaBuffer* OwnBuffer(const CudaContext& context, const Buffer* buffer);
const CudaEvent* OwnEvent(const CudaContext& context, const Event& event);

}  // namespace telemetry::worker::device
