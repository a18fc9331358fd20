#include "worker/ir/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_join.h"
#include "proto/record/strings.h"

namespace telemetry::worker::ir {
namespace {

using device::DType;

// Returns 0 if both are NaN or equal, and infinity if only one of them is finite.
double AbsoluteError(double expected, double actual) {
  if (expected == actual || (std::isnan(expected) && std::isnan(actual))) return 0;
  const double error = std::abs(actual - expected);
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

std::vector<int64_t> UnravelIndex(int64_t position, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> index(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    index[d] = position % sizes[d];
    position /= sizes[d];
  }
  return index;
}

}  // namespace

Tolerance ToleranceFor(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return {.absolute = 2e-5, .relative = 2e-5};
    case DType::kF16:
      return {.absolute = 1e-3, .relative = 2e-3};
    case DType::kBF16:
      return {.absolute = 8e-3, .relative = 1.6e-2};
    default:
      break;
  }
  return {};
}

Comparison Compare(const HostArray& expected, const HostArray& actual, Tolerance tolerance) {
  Comparison result;
  result.same_sizes = expected.sizes == actual.sizes;
  if (!result.same_sizes) return result;
  const std::vector<double> expected_values = expected.RowMajor();
  const std::vector<double> actual_values = actual.RowMajor();
  result.elements = static_cast<int64_t>(expected_values.size());
  double worst_excess = -std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < expected_values.size(); ++i) {
    const double magnitude = std::isfinite(expected_values[i]) ? std::abs(expected_values[i]) : 0;
    const double error = AbsoluteError(expected_values[i], actual_values[i]);
    const double excess = error - (tolerance.absolute + tolerance.relative * magnitude);
    result.worst_absolute = std::max(result.worst_absolute, error);
    if (magnitude > 0) result.worst_relative = std::max(result.worst_relative, error / magnitude);
    if (excess > 0) ++result.mismatches;
    if (excess <= worst_excess) continue;
    worst_excess = excess;
    result.where = UnravelIndex(static_cast<int64_t>(i), expected.sizes);
    result.expected = expected_values[i];
    result.actual = actual_values[i];
  }
  return result;
}

std::string Comparison::ToString() const {
  if (!same_sizes) return "the sizes differ";
  if (elements == 0) return "empty, as expected";
  return record::Cat(mismatches, " of ", elements, " elements beyond the tolerance; worst at [",
                     absl::StrJoin(where, ", "), "]: expected ", expected, ", got ", actual, "; worst absolute error ",
                     worst_absolute, ", relative ", worst_relative);
}

}  // namespace telemetry::worker::ir
