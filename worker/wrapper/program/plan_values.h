#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/device/device.h"
#include "worker/kernels/draw.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper::program {

// The values of the buffers of a verified plan on the host: its inputs and its expected outputs.

// Returns the range from which each input is drawn: that of the first line that reads the input, or -1 to 1.
std::vector<kernels::DrawRange> InputRanges(const Plan& plan);

// Draws the memory of each input, including gaps, one input after the other. A plan of one call whose inputs are the
// dense arguments of its kernel, in order, gets the values that MakeCase() draws for the seed.
std::vector<std::vector<double>> DrawInputs(const Plan& plan, absl::Span<const kernels::DrawRange> ranges,
                                            uint64_t seed);

// Computes the outputs in row-major order with the references of the kernels, in doubles. Between calls values are
// rounded to the dtype of their buffers; the outputs are not rounded. `references` runs the references of kernels that
// are given as source; it may be null if there are none. INTERNAL: a reference lacks an output. Other errors are those
// of EvaluateReference() (source_function.h).
absl::StatusOr<std::vector<std::vector<double>>> EvaluatePlan(
    const Plan& plan, absl::Span<const std::vector<double>> inputs,
    const std::shared_ptr<device::Device>& references = nullptr);

// Returns the tolerance of each output. For a plan of one call it is the tolerance of the kernel. For several calls it
// includes the error of rounding between them (ir/compare.h), by the narrowest floats of the plan. `coarse_dots`: dots
// of f32 have ten bits of mantissa.
std::vector<ir::Tolerance> OutputTolerances(const Plan& plan, bool coarse_dots);

}  // namespace telemetry::worker::wrapper::program
