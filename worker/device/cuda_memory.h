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
      : context_(memory.context()),
        pointer_(memory.get()),
        size_bytes_(size_bytes),
        memory_(std::make_shared<const CudaMemoryHandle>(std::move(memory))) {}
  // Creates a buffer in memory that `owner` keeps; it may be null.
  CudaBuffer(std::shared_ptr<const CudaContext> context, CUdeviceptr pointer, size_t size_bytes,
             std::shared_ptr<const void> owner)
      : context_(std::move(context)), pointer_(pointer), size_bytes_(size_bytes), memory_(std::move(owner)) {}
  // Creates a view.
  CudaBuffer(const CudaBuffer& whole, size_t offset_bytes, size_t size_bytes)
      : context_(whole.context_),
        pointer_(whole.pointer_ + offset_bytes),
        size_bytes_(size_bytes),
        memory_(whole.memory_) {}

  size_t size_bytes() const override { return size_bytes_; }
  uint64_t handle() const override { return pointer_; }
  // Returns the address of the pointer, which a launch needs for its argument.
  const CUdeviceptr& pointer() const { return pointer_; }
  const CudaContext* context() const { return context_.get(); }

 private:
  const std::shared_ptr<const CudaContext> context_;
  const CUdeviceptr pointer_;
  const size_t size_bytes_;
  const std::shared_ptr<const void> memory_;  // released with the last buffer in it
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

// RESOURCE_EXHAUSTED: the device's memory is full. FAILED_PRECONDITION: see CudaContext::CheckNotCapturing.
absl::StatusOr<std::unique_ptr<Buffer>> AllocateCudaBuffer(const std::shared_ptr<const CudaContext>& context,
                                                           size_t size_bytes);

// Implements Interop::Wrap.
absl::StatusOr<std::unique_ptr<Buffer>> WrapCudaMemory(const std::shared_ptr<const CudaContext>& context,
                                                       CUdeviceptr pointer, size_t size_bytes,
                                                       std::shared_ptr<const void> owner);

// Returns the buffer or event as an object of this context; null if it is null or belongs to another device.
const CudaBuffer* OwnBuffer(const CudaContext& context, const Buffer* buffer);
const CudaEvent* OwnEvent(const CudaContext& context, const Event& event);

}  // namespace telemetry::worker::device
