#pragma once

#include "worker/kernels/library.h"

namespace telemetry::worker::kernels {

// What the kernels that compute a softmax of `x` along its rows have in common.

Outputs SoftmaxReference(const Case& c);
// The maximum is exact and the sum's terms all have one sign: no error but the roundings'. Results may be as small as
// the inverse of a row's length, hence the absolute part: half a unit of f16's smallest numbers.
ir::Tolerance SoftmaxTolerance(const Problem& problem, DType output);
double SoftmaxFlops(const Problem& problem);

}  // namespace telemetry::worker::kernels
