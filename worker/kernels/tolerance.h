#pragma once

#include "worker/device/dtype.h"
#include "worker/ir/compare.h"

namespace telemetry::worker::kernels {

// Tolerances of the library's kernels, as tight as their arithmetic allows. They must be tight: results of a softmax
// over thousands of elements are so small that a common absolute tolerance would accept zeros.

// Returns the tolerance of a result that a few float32 operations compute and that is rounded once, when it is stored.
// The relative part is one unit in the last place of f16 (2^-10) and bf16 (2^-7), because the reference may round to
// the other side. For f32 it is 1e-5, because OpenCL allows its elementary functions errors of up to 16 units of 2^-24
// each. `absolute` covers cancellation on the way to a small result; 1e-6 suits operands near 1. Integers and booleans
// are exact.
ir::Tolerance Rounded(device::DType dtype, double absolute = 1e-6);

// Returns the tolerance of a sum of `terms` products or values of magnitude 1, in any order. Each addition may lose
// half a unit (2^-24) of a partial sum, and twice that on tensor cores, which truncate instead of rounding. Partial
// sums of mixed signs grow with the square root of the number of terms, so terms * 2^-23 leaves a margin.
ir::Tolerance Summed(device::DType dtype, double terms);

}  // namespace telemetry::worker::kernels
