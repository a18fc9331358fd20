#pragma once

#include "worker/device/dtype.h"
#include "worker/ir/compare.h"

namespace telemetry::worker::kernels {

// Tolerances of the library's kernels, as tight as their arithmetic allows: results of softmax over thousands of
// elements are so small that an absolute tolerance that suits others would accept zeros.

// A result that is computed in float32 from a few operations and rounded once, when it is stored. Relative: one unit in
// the last place of f16 (2^-10) and bf16 (2^-7), as the reference may round to the other side; 1e-5 in f32, for OpenCL
// allows its elementary functions up to 16 units of 2^-24 each. `absolute`: what cancels on the way to a small result;
// 1e-6 suits operands near 1. Integers and booleans are exact.
ir::Tolerance Rounded(DType dtype, double absolute = 1e-6);

// A sum of `terms` products or values of magnitude 1, in any order. Each addition may lose half a unit (2^-24) of a
// partial sum; tensor cores cut off rather than round, which costs twice that. Partial sums of mixed signs are about
// the root of their number, so that terms * 2^-23 has room.
ir::Tolerance Summed(DType dtype, double terms);

}  // namespace telemetry::worker::kernels
