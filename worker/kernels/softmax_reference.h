#pragma once

#include "worker/kernels/library_kernel.h"

namespace telemetry::worker::kernels {

// The reference, tolerance and cost of the kernels that compute a softmax of `x` along its rows.

Outputs SoftmaxReference(const Case& c);
// Returns the tolerance of a softmax. The maximum is exact and all terms of the sum have the same sign, so rounding is
// the only error. Results may be as small as the inverse of a row's length; the absolute part is therefore half a unit
// of the smallest f16 numbers.
ir::Tolerance SoftmaxTolerance(const Problem& problem, device::DType output);
double SoftmaxFlops(const Problem& problem);

}  // namespace telemetry::worker::kernels
