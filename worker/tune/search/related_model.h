#pragma once

#include <Eigen/Dense>
#include <vector>

#include "worker/tune/search/gaussian_process.h"
#include "worker/tune/search/point_space.h"
#include "worker/tune/search/related_runs.h"

namespace telemetry::worker::tune::search {

// A model of the results of related runs: the prior of a search's own model. The results of each run are compared with
// its best one only, and count with the noise of their run. Immutable after construction.
class RelatedModel {
 public:
  // Ignores configs that the parameters of the space cannot express, and runs with too few times.
  RelatedModel(const PointSpace& space, const std::vector<RelatedRun>& runs);

  // False: there are no usable results, and the functions below must not be called.
  bool has_times() const { return has_times_; }
  // Returns the expected logarithm of the time relative to the best time of the run, for each column of features
  // (ComputeFeatures).
  Eigen::ArrayXd ExpectedTime(const Eigen::MatrixXd& features) const { return times_.PredictMeans(features).array(); }
  // Returns the expected probability of failure, from 0 to 1; 0 if no result is a failure.
  Eigen::ArrayXd ExpectedFailure(const Eigen::MatrixXd& features) const {
    if (!has_failures_) return Eigen::ArrayXd::Zero(features.cols());
    return failures_.PredictMeans(features).array().max(0).min(1);
  }
  // The variance of the values of ExpectedTime among the results.
  double variance() const { return variance_; }
  // The fastest points of each run, those of the nearest runs first.
  const std::vector<Point>& best_points() const { return best_points_; }

 private:
  GaussianProcess times_;
  GaussianProcess failures_;
  bool has_times_ = false;
  bool has_failures_ = false;
  double variance_ = 0;
  std::vector<Point> best_points_;
};

}  // namespace telemetry::worker::tune::search
