#pragma once

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/debug/value_debugger.h"
#include "worker/kernel/bound_kernel.h"

namespace telemetry::worker::debug {

// Whether a call looks for its config first, so that nobody knows beforehand what it launches: the kernel has several,
// or none and not the default one either, or is to be autotuned in any case.
bool PicksAtRunTime(const KernelDefinition& kernel);

// BoundKernel::RunInto with its arguments looked at before and after, as a program of one launch. `debugger` may be
// null. Waits for the launch where it is not. Errors are RunInto's and the launch's.
absl::Status RunInto(BoundKernel& kernel, absl::Span<const Argument> arguments, absl::Span<const Tensor> outputs,
                     ValueDebugger* debugger);

}  // namespace telemetry::worker::debug
