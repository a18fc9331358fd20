#include "worker/tune/search/gaussian_process.h"

#include <algorithm>
#include <cmath>

namespace telemetry::worker::tune::search {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kFittedInputs = 120;  // limit of the inputs that hyperparameters are fitted to, which is O(n^3)
constexpr int kFirstRounds = 3;
// The growth of the observations after which the hyperparameters are fitted again: it takes most of the time of a Fit.
constexpr double kGrowth = 1.1;

// Returns the correlations of the values at the columns of `a` (rows) with those at the columns of `b`.
MatrixXd CorrelationsOf(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd correlations = -2 * (a.transpose() * b);
  correlations.colwise() += a.colwise().squaredNorm().transpose();
  correlations.rowwise() += b.colwise().squaredNorm();
  ToCorrelations(correlations);
  return correlations;
}

}  // namespace

GaussianProcess::GaussianProcess(Index features) : assumptions_(Assumptions::For(features)) {}

void GaussianProcess::Fit(const MatrixXd& inputs, const VectorXd& values, const VectorXd& noises) {
  const Index size = values.size();
  mean_ = values.mean();
  const VectorXd centred = values.array() - mean_;
  if (static_cast<double>(size) >= kGrowth * static_cast<double>(improved_at_)) Improve(inputs, centred);
  inputs_ = Scaled(inputs);
  MatrixXd correlations = CorrelationsOf(inputs_, inputs_);
  correlations.diagonal().setConstant(1 + assumptions_.noise);
  if (noises.size() > 0) correlations.diagonal() += noises;
  // Cannot fail: the noise on the diagonal makes the matrix positive definite.
  factor_.compute(correlations);
  weights_ = factor_.solve(centred);
  scale_ = std::sqrt(std::max(1e-12, centred.dot(weights_) / static_cast<double>(size)));
}

void GaussianProcess::Improve(const MatrixXd& inputs, const VectorXd& centred) {
  const Index stride = (inputs.cols() + kFittedInputs - 1) / kFittedInputs;
  const auto some = Eigen::seq(0, Eigen::last, stride);
  FitAssumptions(inputs(Eigen::all, some), centred(some), improved_at_ == 0 ? kFirstRounds : 1, &assumptions_);
  improved_at_ = inputs.cols();
}

GaussianProcess::Predictions GaussianProcess::Predict(const MatrixXd& inputs) const {
  MatrixXd correlations = CorrelationsOf(inputs_, Scaled(inputs));
  Predictions predictions;
  predictions.means = (correlations.transpose() * weights_).array() + mean_;
  factor_.matrixL().solveInPlace(correlations);
  const VectorXd known = correlations.colwise().squaredNorm().transpose();
  predictions.deviations = scale_ * (1 - known.array()).max(0).sqrt();
  return predictions;
}

VectorXd GaussianProcess::PredictMeans(const MatrixXd& inputs) const {
  return (CorrelationsOf(inputs_, Scaled(inputs)).transpose() * weights_).array() + mean_;
}

MatrixXd GaussianProcess::Correlations(const MatrixXd& a, const MatrixXd& b) const {
  return CorrelationsOf(Scaled(a), Scaled(b));
}

}  // namespace telemetry::worker::tune::search
