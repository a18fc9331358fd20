#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "worker/wrapper/plan_buffer.h"

namespace telemetry::worker::wrapper {

// Returns the reason why rows of `target` cannot be written with these indices and values; empty if they can. `target`
// is f32, f16 or bf16 and dense, with at least one dimension; `indices` is i32[k]; `values` has the dtype of `target`,
// k rows, and rows of the same sizes.
std::string WhyNotIndexed(const PlanBuffer& target, const PlanBuffer& indices, const PlanBuffer& values);

// Writes rows (IndexPut in lines.h), in doubles, not rounded. All elements are in row-major order; `target` has
// `target_rows` rows.
void PutRows(absl::Span<const double> indices, absl::Span<const double> values, bool accumulate, int64_t target_rows,
             std::vector<double>* target);

}  // namespace telemetry::worker::wrapper
