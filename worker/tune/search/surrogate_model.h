#pragma once

#include <Eigen/Dense>
#include <deque>
#include <limits>
#include <vector>

#include "absl/types/span.h"
#include "worker/tune/search/gaussian_process.h"
#include "worker/tune/search/generational_search.h"
#include "worker/tune/search/related_model.h"

namespace telemetry::worker::tune::search {

// Returns the features of points for a model, one column for each point: those of each dimension, then those of the
// tile shape.
Eigen::MatrixXd ComputeFeatures(const PointSpace& space, absl::Span<const Point> points);
// Returns the number of features.
Eigen::Index CountFeatures(const PointSpace& space);
Eigen::VectorXd ToVector(const std::vector<double>& values);

// A model of the outcomes so far. For points that were not tried it predicts the time and the probability of failure.
// `features` are those of ComputeFeatures, and results have one element for each column. Const methods may be called
// from several threads.
class SurrogateModel {
 public:
  // `related` may be null, and must outlive the model otherwise. `predicted_variance` is the variance of a cost model's
  // predictions (PredictedTimes::Variance); 0: there is none.
  explicit SurrogateModel(const PointSpace& space, const RelatedModel* related = nullptr,
                          double predicted_variance = 0);

  // Fits the model to the outcomes and to points that cannot run. Returns false if too few outcomes have a time.
  bool Fit(const PointSpace& space, const std::vector<Outcome>& outcomes, const std::deque<Point>& refused);

  // Returns the expected improvement over the best time so far, in the logarithm of the time, multiplied by the
  // probability that the config runs. Never negative. `predicted` are the cost model's predictions for the configs.
  Eigen::ArrayXd ExpectedGain(const Eigen::MatrixXd& features, const Eigen::ArrayXd& predicted) const;
  // Returns the predicted mean of the logarithm of the time, plus a penalty for the probability of failure.
  Eigen::ArrayXd ExpectedTime(const Eigen::MatrixXd& features, const Eigen::ArrayXd& predicted) const;
  // Returns the correlations of the times of the points `a` (rows) with those of `b`, from 0 to 1.
  Eigen::ArrayXXd Likeness(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) const {
    return times_.Correlations(a, b).array();
  }

 private:
  Eigen::ArrayXd ChanceToRun(const Eigen::MatrixXd& features) const;
  // Returns the probability that the config's source does not compile for much longer than others.
  Eigen::ArrayXd ChanceToCompile(const Eigen::MatrixXd& features) const;
  bool has_prior() const { return related_ != nullptr || predicted_variance_ > 0; }
  bool knows_compiling() const { return long_compiling_ < std::numeric_limits<double>::infinity(); }
  // Sets the weights.
  void FitPrior(const Eigen::MatrixXd& features, const std::vector<double>& predicted,
                const std::vector<double>& values);
  // Returns the part of the logarithm of the time that the related runs and the cost model predict; 0 without both.
  Eigen::ArrayXd Prior(const Eigen::MatrixXd& features, const Eigen::ArrayXd& predicted) const;
  Eigen::ArrayXd FailurePrior(const Eigen::MatrixXd& features) const;

  const RelatedModel* const related_;
  const double predicted_variance_;
  // Factors of the predictions: near 1 together if they fit the outcomes, 0 if they do not.
  double related_weight_ = 0;
  double predicted_weight_ = 0;
  GaussianProcess times_;      // log of the time in ms, capped at kSlowest above the best
  GaussianProcess failures_;   // 1: the point has no time; 0: it has one
  GaussianProcess compiling_;  // log of the seconds of the compiler
  bool has_failures_ = false;
  // Log of the seconds above which a source is not worth its time; infinite: too few times are known.
  double long_compiling_ = std::numeric_limits<double>::infinity();
  double best_ = 0;  // log of the best time in ms
};

}  // namespace telemetry::worker::tune::search
