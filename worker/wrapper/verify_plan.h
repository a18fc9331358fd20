#pragma once

#include "absl/status/status.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// Checks that the lines of a plan can be run:
// - Indices are in range.
// - Kernels are defined before their calls.
// - Calls have buffers of the kernel's layout, which is dense for kernels that are given as source, and no output
// shares memory with an argument of the call.
// - The tensors of a Concatenate fit (concatenate.h); it writes to dense memory of the plan that it does not read.
// - Rows and elements are written to dense memory of the plan, which the line does not read as indices or values.
// - Every buffer exists when it is used and has not been freed before. A view ends with its base.
// - Views are inside their memory.
// - A reuse keeps the dtype and the size class.
// - Subgraphs and conditionals are closed, and at most kMostSubgraphDepth of them are nested (subgraphs.h). A branch is
//   one subgraph. Kernels are defined outside subgraphs. Memory that a subgraph makes is freed in it, and no other
//   memory is. Buffers that a subgraph makes are not used behind it.
// - Inputs and outputs are never freed. All other memory is freed exactly once.
// INVALID_ARGUMENT names plan, line and buffer.
absl::Status VerifyPlan(const Plan& plan);

}  // namespace telemetry::worker::wrapper
