#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/ir/host_array.h"
#include "worker/kernel/tensor.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// The memory of a plan's buffers while it runs, on a device or on the host. The plan has to be verified and to outlive
// this. One thread.
class RunMemory {
 public:
  // `device` null: on the host.
  RunMemory(const Plan* plan, std::shared_ptr<Device> device)
      : plan_(*plan), device_(std::move(device)), places_(PlacesOf(plan_)) {}

  // Begins a run. INVALID_ARGUMENT: they are not the plan's.
  absl::Status TakeInputs(absl::Span<const Tensor> inputs);
  // What a line does to memory before it calls a kernel: makes, hands on, frees. Errors are the device's.
  absl::Status Update(const Line& line);
  void Clear() { memory_.clear(); }

  // The buffer over its memory; on the host a copy. INVALID_ARGUMENT: a view that begins where none of the device can.
  absl::StatusOr<Tensor> TensorOf(int buffer) const;
  absl::StatusOr<std::vector<Tensor>> TensorsOf(absl::Span<const int> buffers) const;
  // Their elements on the host, without gaps.
  absl::StatusOr<std::vector<ir::HostArray>> DenseArrays(absl::Span<const int> buffers) const;
  // Into the memory of a buffer that is dense and no view.
  absl::Status Write(int buffer, const ir::HostArray& dense);

  const std::vector<Place>& places() const { return places_; }

 private:
  absl::Status AllocateFor(int buffer, int64_t bytes);

  const Plan& plan_;
  const std::shared_ptr<Device> device_;
  const std::vector<Place> places_;
  std::vector<Tensor> memory_;  // by buffer that is no view; flat where it is the plan's
};

}  // namespace telemetry::worker::wrapper
