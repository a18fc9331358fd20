#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace telemetry::bench {

// Returns the median, for an even number of values the upper of the two middle values. `values` must not be empty.
inline double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace telemetry::bench
