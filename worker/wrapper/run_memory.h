#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/ir/host_array.h"
#include "worker/runtime/tensor.h"
#include "worker/wrapper/lines.h"
#include "worker/wrapper/memory_layout.h"
#include "worker/wrapper/memory_pool.h"
#include "worker/wrapper/subgraphs.h"

namespace telemetry::worker::wrapper {

// The memory of the buffers of a plan while it runs, on a device or on the host. The plan must be verified and outlive
// this object. For use by one thread.
class RunMemory {
 public:
  // If `device` is null, the memory is on the host. If `fills`, new memory is filled with the byte 0xff, which is NaN,
  // -1 or true; memory on the host always is filled with ir::FillValue(). With a `pool` of the device, the memory that
  // does not become an output is in the block of the pool.
  RunMemory(const Plan* plan, std::shared_ptr<device::Device> device, bool fills,
            std::shared_ptr<MemoryPool> pool = nullptr)
      : plan_(*plan),
        device_(std::move(device)),
        fills_(fills),
        pool_(std::move(pool)),
        layout_(pool_ == nullptr ? MemoryLayout() : LayOutMemory(plan_)),
        places_(ComputePlaces(plan_)),
        is_scalar_input_(FindScalarInputs(plan_)) {}

  // Begins a run. INVALID_ARGUMENT: the inputs do not match the plan's. RESOURCE_EXHAUSTED: see MemoryPool::Block().
  absl::Status TakeInputs(absl::Span<const runtime::Tensor> inputs);
  // Applies the effects of a line on memory: allocates, transfers and frees. Must be called before the kernel of the
  // line. Errors are those of the device.
  absl::Status Update(const Line& line);
  void Clear();

  // Returns the buffer as a tensor over its memory; on the host it is a copy. INVALID_ARGUMENT: a view begins where no
  // buffer of the device can begin.
  absl::StatusOr<runtime::Tensor> MakeTensor(int buffer) const;
  absl::StatusOr<std::vector<runtime::Tensor>> MakeTensors(absl::Span<const int> buffers) const;
  // Returns the elements of the buffers on the host, without gaps.
  absl::StatusOr<std::vector<ir::HostArray>> DenseArrays(absl::Span<const int> buffers) const;
  // Returns true if the element of a predicate is not 0. Waits for the device if the element is there.
  absl::StatusOr<bool> IsTrue(int predicate) const;
  // Writes to the memory of a buffer that is dense and not a view.
  absl::Status Write(int buffer, const ir::HostArray& dense);

  const std::vector<Place>& places() const { return places_; }

 private:
  absl::Status AllocateFor(int buffer, int64_t bytes);
  // Returns the offset of a buffer's memory in the block of the pool, in bytes; -1: it is not there.
  int64_t OffsetInBlock(int buffer) const {
    return layout_.offsets.empty() ? -1 : layout_.offsets[static_cast<size_t>(buffer)];
  }

  const Plan& plan_;
  const std::shared_ptr<device::Device> device_;
  const bool fills_;
  const std::shared_ptr<MemoryPool> pool_;  // null: each buffer has memory of its own
  const MemoryLayout layout_;
  const std::vector<Place> places_;
  const std::vector<bool> is_scalar_input_;
  std::shared_ptr<device::Buffer> block_;  // of the pool, during a run
  std::vector<runtime::Tensor> memory_;    // by buffer that is not a view; one-dimensional if the plan allocated it
};

}  // namespace telemetry::worker::wrapper
