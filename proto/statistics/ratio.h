#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace telemetry::statistics {

// A ratio with the bounds of its 95% confidence interval.
struct Ratio {
  double ratio = 1;
  std::optional<double> low;
  std::optional<double> high;
  size_t count = 0;  // of the smaller list

  // Returns if 1 is outside of the interval; nullopt: there is no interval.
  std::optional<bool> IsSignificant() const;
};

// Returns the ratio of the medians, other / baseline. The lists are independent samples of positive values. nullopt: a
// list is empty. An interval needs three values in each.
std::optional<Ratio> CompareMedians(const std::vector<double>& baseline, const std::vector<double>& other);

// Returns the geometric mean of ratios of pairs, which are positive. nullopt: there are none.
std::optional<Ratio> GeometricMean(const std::vector<double>& ratios);

}  // namespace telemetry::statistics
