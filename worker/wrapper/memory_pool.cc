#include "worker/wrapper/memory_pool.h"

#include <cstddef>

#include "proto/base/status_macros.h"

namespace telemetry::worker::wrapper {

absl::StatusOr<std::shared_ptr<device::Buffer>> MemoryPool::Block(int64_t bytes) {
  if (block_ != nullptr && this->bytes() >= bytes) return block_;
  block_.reset();  // both may not fit into the device
  ASSIGN_OR_RETURN(block_, device_->Allocate(static_cast<size_t>(bytes)));
  ++allocations_;
  return block_;
}

int64_t MemoryPool::bytes() const { return block_ == nullptr ? 0 : static_cast<int64_t>(block_->size_bytes()); }

}  // namespace telemetry::worker::wrapper
