#pragma once

#include <cstddef>
#include <vector>

namespace telemetry::worker::tune::search {

// The hyperparameters of a Gaussian process.
struct Assumptions {
  std::vector<double> relevances;  // per feature: the inverse of its length scale
  double noise = 0;                // variance of the noise, as a fraction of the signal's variance

  // Returns the initial hyperparameters: all features are equally relevant.
  static Assumptions For(size_t features);
};

// Returns the correlation of two values whose inputs have this squared distance (Matern 5/2 kernel).
double CorrelationAt(double squared_distance);

// Improves the hyperparameters by coordinate search: tries to change each one in turn, `rounds` times, and keeps a
// change that increases the likelihood of the values. `values` are centred (their mean is 0).
void FitAssumptions(const std::vector<std::vector<double>>& inputs, const std::vector<double>& values, int rounds,
                    Assumptions* assumptions);

}  // namespace telemetry::worker::tune::search
