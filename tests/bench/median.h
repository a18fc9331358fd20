#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace telemetry::bench {

// The upper one of two in the middle. Of at least one value.
inline double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace telemetry::bench
