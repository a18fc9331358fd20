#pragma once

#include <Eigen/Dense>

namespace telemetry::worker::tune::search {

// The hyperparameters of a Gaussian process.
struct Assumptions {
  Eigen::VectorXd relevances;  // per feature: the inverse of its length scale
  double noise = 0;            // variance of the noise, as a fraction of the signal's variance

  // Returns the initial hyperparameters: all features are equally relevant.
  static Assumptions For(Eigen::Index features);
};

// Replaces squared distances of inputs by the correlations of their values (Matern 5/2 kernel).
void ToCorrelations(Eigen::Ref<Eigen::MatrixXd> squared_distances);

// Improves the hyperparameters by coordinate search: tries to change each one in turn, `rounds` times, and keeps a
// change that increases the likelihood of the values. Each column of `inputs` has the features of one value. `values`
// are centred (their mean is 0).
void FitAssumptions(const Eigen::MatrixXd& inputs, const Eigen::VectorXd& values, int rounds, Assumptions* assumptions);

}  // namespace telemetry::worker::tune::search
