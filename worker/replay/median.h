#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace telemetry::worker::replay {

// Returns the median; the mean of the two in the middle if the number is even. Requires at least one value.
inline double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace telemetry::worker::replay
