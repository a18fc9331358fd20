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
#include "worker/wrapper/subgraphs.h"

namespace telemetry::worker::wrapper {

// The memory of the buffers of a plan while it runs, on a device or on the host. The plan must be verified and outlive
// this object. For use by one thread.
class RunMemory {
 public:
  // If `device` is null, the memory is on the host. If `fills`, new memory is filled with the byte 0xff, which is NaN,
  // -1 or true; memory on the host always is filled with ir::FillValue().
  RunMemory(const Plan* plan, std::shared_ptr<device::Device> device, bool fills)
      : plan_(*plan),
        device_(std::move(device)),
        fills_(fills),
        places_(ComputePlaces(plan_)),
        is_scalar_input_(FindScalarInputs(plan_)) {}

  // Begins a run. INVALID_ARGUMENT: the inputs do not match the plan's.
  absl::Status TakeInputs(absl::Span<const runtime::Tensor> inputs);
  // Applies the effects of a line on memory: allocates, transfers and frees. Must be called before the kernel of the
  // line. Errors are those of the device.
  absl::Status Update(const Line& line);
  void Clear() { memory_.clear(); }

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

  const Plan& plan_;
  const std::shared_ptr<device::Device> device_;
  const bool fills_;
  const std::vector<Place> places_;
  const std::vector<bool> is_scalar_input_;
  std::vector<runtime::Tensor> memory_;  // by buffer that is not a view; one-dimensional if the plan allocated it
};

}  // namespace telemetry::worker::wrapper
