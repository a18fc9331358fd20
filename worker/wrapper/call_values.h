#pragma once

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/debug/debug_value.h"
#include "worker/kernel/tensor.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// What a debugger is shown of a plan that runs.

// A run's inputs, in the plan's order.
std::vector<debug::DebugValue> InputValues(const Plan& plan, absl::Span<const Tensor> inputs);

// Arguments, numbers, outputs; of extern kernels no numbers. `tensor_of` gives a buffer as it is now; errors are its
// own.
absl::StatusOr<std::vector<debug::DebugValue>> CallValues(const Plan& plan, const std::vector<Place>& places,
                                                          const KernelCall& call, bool is_extern,
                                                          absl::FunctionRef<absl::StatusOr<Tensor>(int)> tensor_of);

// The buffers whose memory the call writes, by name.
std::vector<std::string> WrittenMemory(const Plan& plan, const std::vector<Place>& places, const KernelCall& call);

}  // namespace telemetry::worker::wrapper
