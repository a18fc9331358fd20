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

// Returns the arguments, numbers and outputs of a call; for extern kernels without the numbers. `tensor_of` returns the
// current content of a buffer. Errors are those of `tensor_of`.
absl::StatusOr<std::vector<debug::DebugValue>> CallValues(
    const Plan& plan, const std::vector<Place>& places, const KernelCall& call, bool is_extern,
    absl::FunctionRef<absl::StatusOr<runtime::Tensor>(int)> tensor_of);

// Returns the names of the buffers whose memory the call writes.
std::vector<std::string> WrittenMemory(const Plan& plan, const std::vector<Place>& places, const KernelCall& call);

}  // namespace telemetry::worker::wrapper
