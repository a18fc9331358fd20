#pragma once

#include <Eigen/Dense>

#include "worker/tune/search/assumptions.h"

namespace telemetry::worker::tune::search {

// Gaussian process regression: predicts the mean and the deviation of a value at given features from a few hundred
// observations (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006; Matern 5/2 kernel). The
// relevance of each feature is fitted, too, so that features without effect do not blur the prediction. Each column of
// `inputs` has the features of one input. Const methods may be called from several threads.
class GaussianProcess {
 public:
  explicit GaussianProcess(Eigen::Index features);

  // Replaces the observations. The relevances of the last Fit are the starting point for the new ones, and stay as they
  // are while there are few more observations than before. Needs at least one observation, and as many values as
  // inputs. `noises`: of each observation, the variance of its own noise beside the fitted one, as a fraction of the
  // signal's variance; empty: 0.
  void Fit(const Eigen::MatrixXd& inputs, const Eigen::VectorXd& values, const Eigen::VectorXd& noises = {});

  struct Predictions {
    Eigen::VectorXd means;
    Eigen::VectorXd deviations;
  };
  Predictions Predict(const Eigen::MatrixXd& inputs) const;
  // Returns the means of Predict at a fraction of its time.
  Eigen::VectorXd PredictMeans(const Eigen::MatrixXd& inputs) const;
  // Returns the correlations of the values at the inputs `a` (rows) with those at `b`: from 0 (independent) to 1
  // (equal).
  Eigen::MatrixXd Correlations(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) const;

 private:
  void Improve(const Eigen::MatrixXd& inputs, const Eigen::VectorXd& centred);
  Eigen::MatrixXd Scaled(const Eigen::MatrixXd& inputs) const { return assumptions_.relevances.asDiagonal() * inputs; }

  Assumptions assumptions_;
  Eigen::Index improved_at_ = 0;  // the number of observations when assumptions_ were fitted

  Eigen::MatrixXd inputs_;  // each feature multiplied by its relevance
  double mean_ = 0;
  double scale_ = 1;                    // standard deviation of the signal
  Eigen::LLT<Eigen::MatrixXd> factor_;  // Cholesky factor of the inputs' correlation matrix plus noise
  Eigen::VectorXd weights_;             // per input: the inverse of that matrix times the centred values
};

}  // namespace telemetry::worker::tune::search
