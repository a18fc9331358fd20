#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// What a call of a kernel with these tensors needs: the problem, with all numbers, and the outputs, of a trace; without
// name and config. INVALID_ARGUMENT names kernel and argument and says what was given and what is wanted: a number of
// arguments, a dtype, a rank, a dimension that is of another size in an earlier argument, an unknown number. Errors of
// the trace name the kernel.
absl::StatusOr<PlanKernel> KernelFor(const kernels::LibraryKernel& kernel, absl::Span<const PlanBuffer> arguments,
                                     const kernels::Numbers& numbers);

}  // namespace telemetry::worker::wrapper
