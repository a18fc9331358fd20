#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace telemetry::statistics {

// A change of level in a series of times.
struct LevelStep {
  size_t at = 0;      // index of the first value after the step
  double before = 0;  // median of the segment before
  double after = 0;   // median of the segment after, up to the next step
  double ratio = 1;   // after / before
  double low = 1;     // bounds of the 95% confidence interval of the ratio
  double high = 1;
};

// Finds the steps of a series of positive values, in their order. A step needs at least three values before it, and one
// after it; a change below 2%, or within the noise of the values around it, is none.
std::vector<LevelStep> FindSteps(const std::vector<double>& values);

}  // namespace telemetry::statistics
