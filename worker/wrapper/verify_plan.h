#pragma once

#include "absl/status/status.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// Whether the lines can be run: indices are in range, kernels are defined before their calls, calls have the buffers
// that their kernels take and write outputs that no argument shares memory with, every buffer is there when it is used
// and not freed before (a view ends with its base), views lie inside their memory, a reuse is of the same dtype and
// size class, inputs and outputs are never freed, and all else that has memory is, once. INVALID_ARGUMENT names plan,
// line and buffer.
absl::Status VerifyPlan(const Plan& plan);

}  // namespace telemetry::worker::wrapper
