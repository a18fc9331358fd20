#include "worker/tune/search/assumptions.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace telemetry::worker::tune::search {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kRelevance = 0.2;
constexpr double kLeastRelevance = 0.02;
constexpr double kMostRelevance = 3;
constexpr double kRelevanceSpread = 1.5;  // standard deviation of the prior of a relevance's logarithm
constexpr double kNoise = 0.05;
constexpr double kLeastNoise = 0.002;
constexpr double kMostNoise = 1;
constexpr double kStep = 2;

// A coordinate search over the hyperparameters that maximises Likelihood().
class Fit {
 public:
  Fit(const MatrixXd& inputs, const VectorXd& values, Assumptions* assumptions)
      : inputs_(inputs),
        values_(values),
        assumptions_(*assumptions),
        squared_distances_(MatrixXd::Zero(inputs.cols(), inputs.cols())),
        trial_(inputs.cols(), inputs.cols()) {
    for (Index i = 0; i < assumptions_.relevances.size(); ++i) Move(i, Squared(assumptions_.relevances[i]));
    best_ = Likelihood();
  }

  void ImproveRelevance(Index feature) {
    for (const double step : {kStep, 1 / kStep}) {
      const double before = assumptions_.relevances[feature];
      const double after = std::clamp(before * step, kLeastRelevance, kMostRelevance);
      Set(feature, after);
      if (Keep()) return;
      Set(feature, before);
    }
  }

  void ImproveNoise() {
    for (const double step : {kStep, 1 / kStep}) {
      const double before = assumptions_.noise;
      assumptions_.noise = std::clamp(before * step, kLeastNoise, kMostNoise);
      if (Keep()) return;
      assumptions_.noise = before;
    }
  }

 private:
  static double Squared(double x) { return x * x; }

  bool Keep() {
    const double likelihood = Likelihood();
    if (!(likelihood > best_)) return false;
    best_ = likelihood;
    return true;
  }

  void Set(Index feature, double relevance) {
    double& held = assumptions_.relevances[feature];
    const double change = Squared(relevance) - Squared(held);
    held = relevance;
    if (change != 0) Move(feature, change);
  }

  // Adds a feature's contribution to all squared distances.
  void Move(Index feature, double squared_relevance) {
    const VectorXd values = inputs_.row(feature);
    for (Index j = 0; j < values.size(); ++j) {
      const Index below = values.size() - j - 1;
      squared_distances_.col(j).tail(below).array() +=
          squared_relevance * (values.tail(below).array() - values[j]).square();
    }
  }

  // Returns the log likelihood of the values, with their most likely scale, plus the log prior of the relevances.
  double Likelihood() {
    for (Index j = 0; j < trial_.cols(); ++j) {
      const Index below = trial_.rows() - j - 1;
      trial_.col(j).tail(below) = squared_distances_.col(j).tail(below);
      ToCorrelations(trial_.col(j).tail(below));
      trial_(j, j) = 1 + assumptions_.noise;
    }
    const Eigen::LLT<Eigen::Ref<MatrixXd>> factors(trial_);
    if (factors.info() != Eigen::Success) return -std::numeric_limits<double>::infinity();
    const double squares = 1e-12 + factors.matrixL().solve(values_).squaredNorm();
    const auto log_prior = (assumptions_.relevances.array() / kRelevance).log() / kRelevanceSpread;
    return -0.5 * static_cast<double>(values_.size()) * std::log(squares) - trial_.diagonal().array().log().sum() -
           0.5 * log_prior.square().sum();
  }

  const MatrixXd& inputs_;
  const VectorXd& values_;
  Assumptions& assumptions_;
  MatrixXd squared_distances_;  // the lower triangle; the upper one is not used
  MatrixXd trial_;              // correlations plus noise, or their factors: the lower triangle
  double best_ = 0;
};

}  // namespace

Assumptions Assumptions::For(Index features) {
  return {.relevances = VectorXd::Constant(features, kRelevance), .noise = kNoise};
}

void ToCorrelations(Eigen::Ref<MatrixXd> squared_distances) {
  auto values = squared_distances.array();
  values = (5 * values.max(0)).sqrt();
  values = (1 + values + values.square() / 3) * (-values).exp();
}

void FitAssumptions(const MatrixXd& inputs, const VectorXd& values, int rounds, Assumptions* assumptions) {
  Fit fit(inputs, values, assumptions);
  for (int round = 0; round < rounds; ++round) {
    for (Index feature = 0; feature < inputs.rows(); ++feature) fit.ImproveRelevance(feature);
    fit.ImproveNoise();
  }
}

}  // namespace telemetry::worker::tune::search
