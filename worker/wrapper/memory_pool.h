#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "worker/device/device.h"

namespace telemetry::worker::wrapper {

// A block of device memory that runners of several plans, or of one plan at several shapes, use one after the other
// (PlanRunner). It is as large as the largest plan so far needs. Work of one run may still be queued when the next run
// begins, because a device runs its work in order. For use by one thread.
class MemoryPool {
 public:
  explicit MemoryPool(std::shared_ptr<device::Device> device) : device_(std::move(device)) {}

  // Returns a block of at least this size. A larger one than before replaces the block; a run that is active keeps the
  // old one. RESOURCE_EXHAUSTED: the device does not have enough memory.
  absl::StatusOr<std::shared_ptr<device::Buffer>> Block(int64_t bytes);

  const std::shared_ptr<device::Device>& device() const { return device_; }
  // Returns the size of the block; 0: there is none.
  int64_t bytes() const;
  // Returns how many blocks were allocated.
  int allocations() const { return allocations_; }

 private:
  const std::shared_ptr<device::Device> device_;
  std::shared_ptr<device::Buffer> block_;
  int allocations_ = 0;
};

}  // namespace telemetry::worker::wrapper
