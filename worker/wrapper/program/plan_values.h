#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/kernels/draw.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// Values of a verified plan's buffers, on the host: what its inputs are given, and what has to come of it.

// What each input is drawn from: the range of the first kernel that reads it, else -1 to 1.
std::vector<kernels::DrawRange> InputRanges(const Plan& plan);

// The memory of each input, gaps included, drawn one after the other. A plan of one call whose inputs are that kernel's
// dense arguments, in order, gets what MakeCase draws for the seed.
std::vector<std::vector<double>> DrawInputs(const Plan& plan, absl::Span<const kernels::DrawRange> ranges,
                                            uint64_t seed);

// The outputs in row-major order by the kernels' references, in doubles. Between calls values are rounded to what their
// buffers hold; the outputs are not. INTERNAL: a reference lacks an output.
absl::StatusOr<std::vector<std::vector<double>>> EvaluatePlan(const Plan& plan,
                                                              absl::Span<const std::vector<double>> inputs);

// How far each output may be off. Of one call: its kernel's tolerance. Of several: what rounding between them costs
// (ir/compare.h), by the narrowest floats of the plan; `coarse_dots`: dots of f32 have ten bits of mantissa.
std::vector<ir::Tolerance> OutputTolerances(const Plan& plan, bool coarse_dots);

}  // namespace telemetry::worker::wrapper
