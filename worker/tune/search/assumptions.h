#pragma once

#include <cstddef>
#include <vector>

namespace telemetry::worker::tune {

// What a Gaussian process assumes of its values before it sees them.
struct Assumptions {
  std::vector<double> relevances;  // per feature: the inverse of the distance along which values change
  double noise = 0;                // variance of what is not explained, as a share of the signal's

  // Of features of which nothing is known.
  static Assumptions For(size_t features);
};

// Correlation of two values whose inputs are that far apart (Matern 5/2).
double CorrelationAt(double squared_distance);

// Improves the assumptions, one at a time and `rounds` times each, for as long as that makes the values likelier.
// `values` are centred.
void FitAssumptions(const std::vector<std::vector<double>>& inputs, const std::vector<double>& values, int rounds,
                    Assumptions* assumptions);

}  // namespace telemetry::worker::tune
