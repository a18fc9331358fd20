#pragma once

#include <vector>

namespace telemetry::worker::replay {

// A monotonicity-preserving piecewise cubic interpolation (Fritsch and Butland, "A method for constructing local
// monotone piecewise cubic interpolants", 1984), with the same values as SciPy's PchipInterpolator. Immutable.
class MonotoneCurve {
 public:
  // At least two nodes; `x` is strictly ascending.
  MonotoneCurve(std::vector<double> x, std::vector<double> y);
  // Requires a value from the first to the last x.
  double At(double x) const;

 private:
  std::vector<double> x_;
  std::vector<double> y_;
  std::vector<double> slopes_;  // per node
};

}  // namespace telemetry::worker::replay
