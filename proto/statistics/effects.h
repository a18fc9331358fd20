#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace telemetry::statistics {

// The group of each value: numbers from 0, with gaps allowed.
using Groups = std::vector<int32_t>;

// Returns the share of the variance of `values` that the groups explain, adjusted for their number (adjusted R²), from
// 0 to 1. nullopt: there are fewer than three values, as many groups as values, or no variance.
std::optional<double> ExplainedVariance(const std::vector<double>& values, const Groups& groups);

// The effects of two knobs together.
struct PairEffect {
  std::optional<double> effect;       // variance that the combinations of both explain
  std::optional<double> interaction;  // of which the sum of both effects does not explain this part
};
PairEffect ExplainedByPair(const std::vector<double>& values, const Groups& a, const Groups& b);

}  // namespace telemetry::statistics
