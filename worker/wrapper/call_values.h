#pragma once

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/debug/debug_value.h"
#include "worker/runtime/tensor.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// The values of a running plan that a debugger sees.

// Returns the inputs of a run, in the plan's order.
std::vector<debug::DebugValue> InputValues(const Plan& plan, absl::Span<const runtime::Tensor> inputs);

// Returns the arguments, numbers and outputs of a line for which IsCall(); only calls of kernels of the plan have
// numbers. `tensor_of` returns the current content of a buffer; it is called once for each tensor, in their order.
// Errors are those of `tensor_of`.
absl::StatusOr<std::vector<debug::DebugValue>> CallValues(
    const Plan& plan, const std::vector<Place>& places, const Line& line,
    absl::FunctionRef<absl::StatusOr<runtime::Tensor>(int)> tensor_of);

// Returns the names of the buffers whose memory the line writes. IsCall() must be true for it.
std::vector<std::string> WrittenMemory(const Plan& plan, const std::vector<Place>& places, const Line& line);

}  // namespace telemetry::worker::wrapper
