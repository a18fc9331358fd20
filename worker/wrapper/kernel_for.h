#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// The sizes of the outputs of a call for all values of the symbols of a plan, by output and dimension.
using OutputForms = std::vector<std::vector<SizeForm>>;

// Returns the kernel for a call with these tensors: the problem, with all numbers, and the outputs that a trace gives.
// Name and config are not set. INVALID_ARGUMENT names the kernel and the argument, with the given and the expected
// value: a wrong number of arguments, a wrong dtype or rank, a dimension whose size differs from an earlier argument,
// or an unknown number. Errors of the trace name the kernel. `forms`, which may be null, gets the sizes of the outputs:
// dimensions of arguments, or constants.
absl::StatusOr<PlanKernel> KernelFor(const kernels::LibraryKernel& kernel, absl::Span<const PlanBuffer> arguments,
                                     const kernels::Numbers& numbers, OutputForms* forms = nullptr);

}  // namespace telemetry::worker::wrapper
