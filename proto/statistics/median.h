#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace telemetry::statistics {

// The median of the natural logarithms of positive values.
struct LogMedian {
  double log = 0;
  // Squared standard error of `log` from the interquartile range of the values, which are taken as independent. Unset:
  // there are fewer than three values.
  std::optional<double> variance;
  size_t count = 0;
};

// Returns the median of the positive ones of the values, or nullopt if there are none.
std::optional<LogMedian> MedianOfLogs(const std::vector<double>& values);

}  // namespace telemetry::statistics
