#pragma once

#include <cstddef>
#include <vector>

#include "worker/tune/search/assumptions.h"
#include "worker/tune/search/cholesky.h"

namespace telemetry::worker::tune::search {

using Features = std::vector<double>;

// Gaussian process regression: predicts the mean and the deviation of a value at given features from a few hundred
// observations (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006; Matern 5/2 kernel). The
// relevance of each feature is fitted, too, so that features without effect do not blur the prediction. Const methods
// may be called from several threads.
class GaussianProcess {
 public:
  explicit GaussianProcess(size_t features);

  // Replaces the observations. The relevances of the last Fit are the starting point for the new ones, and stay as they
  // are while there are few more observations than before. Needs at least one observation, and as many values as
  // inputs. `noises`: of each observation, the variance of its own noise beside the fitted one, as a fraction of the
  // signal's variance; empty: 0.
  void Fit(std::vector<Features> inputs, const std::vector<double>& values, const std::vector<double>& noises = {});

  struct Prediction {
    double mean = 0;
    double deviation = 0;
  };
  Prediction Predict(const Features& input) const;
  // Returns the mean of Predict at a fraction of its time.
  double PredictMean(const Features& input) const;
  // Returns the correlation of the values at two inputs: from 0 (independent) to 1 (equal).
  double Correlation(const Features& a, const Features& b) const;

 private:
  void Improve(const std::vector<double>& centred);
  Features Scaled(const Features& input) const;
  // Returns the correlations of a scaled input with the observations.
  std::vector<double> Correlations(const Features& scaled) const;
  double MeanAt(const std::vector<double>& correlations) const;

  Assumptions assumptions_;
  size_t improved_at_ = 0;  // the number of observations when assumptions_ were fitted

  std::vector<Features> inputs_;  // each feature multiplied by its relevance
  double mean_ = 0;
  double scale_ = 1;             // standard deviation of the signal
  LowerTriangle factor_{0};      // Cholesky factor of the inputs' correlation matrix plus noise
  std::vector<double> weights_;  // per input: the inverse of that matrix times the centred values
};

}  // namespace telemetry::worker::tune::search
