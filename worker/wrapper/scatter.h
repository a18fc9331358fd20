#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// Returns the reason why elements of `target` cannot be written with these indices and values; empty if they can.
// `target` is f32, f16 or bf16 and dense; `indices` is i32; `values` has the dtype of `target` and the sizes of
// `indices`, or is null for a number. All have the same number of dimensions, at least one, of which `dimension` is
// one. In the other dimensions `indices` is not larger than `target`.
std::string WhyNotScattered(const PlanBuffer& target, const PlanBuffer& indices, const PlanBuffer* values,
                            int dimension);

// Returns the reason why a number cannot be written to elements of `target`, which is a float; empty if it can. It is
// finite, and a value of the dtype.
std::string WhyNotNumber(const PlanBuffer& target, double number);

// The sizes of a Scatter.
struct ScatterShape {
  std::vector<int64_t> target;
  std::vector<int64_t> indices;
  int dimension = 0;
};

// Writes elements (Scatter in lines.h), in doubles, not rounded. All elements are in row-major order; there are as many
// values as indices.
void ScatterElements(const ScatterShape& shape, absl::Span<const double> indices, absl::Span<const double> values,
                     Reduction reduction, std::vector<double>* target);

}  // namespace telemetry::worker::wrapper
