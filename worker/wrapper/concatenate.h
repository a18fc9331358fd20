#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "worker/wrapper/plan_buffer.h"

namespace telemetry::worker::wrapper {

// The maximum number of tensors of a Concatenate (lines.h).
inline constexpr size_t kMostConcatenated = 64;

// Returns the sizes of the tensors one behind the other. They must be right (WhyNotConcatenated).
std::vector<int64_t> ConcatenatedSizes(absl::Span<const PlanBuffer> tensors, int dimension);

// Returns these sizes for all values of the symbols of a plan.
std::vector<SizeForm> ConcatenatedForms(absl::Span<const PlanBuffer> tensors, int dimension);

// Returns the reason why the tensors cannot be concatenated; empty if they can. There are 1 to kMostConcatenated of
// them, of the same dtype and of the same sizes except in `dimension`.
std::string WhyNotConcatenated(absl::Span<const PlanBuffer> tensors, int dimension);

// Returns the elements of tensors of these sizes one behind the other, in row-major order, as the elements are.
std::vector<double> ConcatenateElements(absl::Span<const std::vector<double>> elements,
                                        absl::Span<const PlanBuffer> tensors, int dimension);

}  // namespace telemetry::worker::wrapper
