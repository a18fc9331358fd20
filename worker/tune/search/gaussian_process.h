#pragma once

#include <cstddef>
#include <vector>

#include "worker/tune/search/assumptions.h"
#include "worker/tune/search/cholesky.h"

namespace telemetry::worker::tune {

using Features = std::vector<double>;

// Gaussian process regression: predicts a value for features from a few hundred observations, with how sure it is
// (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006; Matern 5/2 kernel). How much each feature
// matters is fitted too, so features without effect do not blur the others.
class GaussianProcess {
 public:
  explicit GaussianProcess(size_t features);

  // Learns these and forgets earlier ones, but for how much each feature matters, which each Fit goes on from. At least
  // one observation; as many values as inputs.
  void Fit(std::vector<Features> inputs, const std::vector<double>& values);

  struct Prediction {
    double mean = 0;
    double deviation = 0;
  };
  Prediction Predict(const Features& input) const;
  // 0: knowing one says nothing about the other. 1: all.
  double Correlation(const Features& a, const Features& b) const;

 private:
  void Improve(const std::vector<double>& centred);
  double SquaredDistance(const Features& a, const Features& b) const;

  Assumptions assumptions_;
  bool is_first_fit_ = true;

  std::vector<Features> inputs_;
  double mean_ = 0;
  double scale_ = 1;             // deviation of the signal
  LowerTriangle factor_{0};      // of the inputs' correlations with noise
  std::vector<double> weights_;  // per input: inverse correlations times centred values
};

}  // namespace telemetry::worker::tune
