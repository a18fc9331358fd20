#pragma once

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "worker/debug/value_debugger.h"
#include "worker/runtime/bound_kernel.h"

namespace telemetry::worker::debug {

// Returns true if a call searches for its config first, so that its launches are not known beforehand: the kernel has
// several configs, or none without use_default_config, or force_autotune is set.
bool PicksAtRunTime(const runtime::KernelDefinition& kernel);

// Calls BoundKernel::RunInto as a program of one launch and lets the debugger inspect the arguments before and after
// it. `debugger` may be null. If it is not, waits for the launch to complete. Returns the errors of RunInto and the
// launch.
absl::Status RunInto(runtime::BoundKernel& kernel, absl::Span<const runtime::Argument> arguments,
                     absl::Span<const runtime::Tensor> outputs, ValueDebugger* debugger);

}  // namespace telemetry::worker::debug
