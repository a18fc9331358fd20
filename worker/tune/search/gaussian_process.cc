#include "worker/tune/search/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace telemetry::worker::tune::search {
namespace {

constexpr size_t kFittedInputs = 120;  // limit of the inputs that hyperparameters are fitted to, which is O(n^3)
constexpr int kFirstRounds = 3;

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

GaussianProcess::GaussianProcess(size_t features) : assumptions_(Assumptions::For(features)) {}

void GaussianProcess::Fit(std::vector<Features> inputs, const std::vector<double>& values,
                          const std::vector<double>& noises) {
  inputs_ = std::move(inputs);
  mean_ = Mean(values);
  std::vector<double> centred;
  centred.reserve(values.size());
  for (const double value : values) centred.push_back(value - mean_);
  Improve(centred);
  const size_t size = inputs_.size();
  factor_ = LowerTriangle(size);
  for (size_t i = 0; i < size; ++i) {
    double* row = factor_.row(i);
    for (size_t j = 0; j < i; ++j) row[j] = Correlation(inputs_[i], inputs_[j]);
    row[i] = 1 + assumptions_.noise + (noises.empty() ? 0 : noises[i]);
  }
  // Cannot fail: the noise on the diagonal makes the matrix positive definite.
  Factorize(&factor_);
  const std::vector<double> whitened = SolveLower(factor_, std::move(centred));
  const double squares = std::inner_product(whitened.begin(), whitened.end(), whitened.begin(), 0.0);
  scale_ = std::sqrt(std::max(1e-12, squares / static_cast<double>(size)));
  weights_ = SolveUpper(factor_, whitened);
}

void GaussianProcess::Improve(const std::vector<double>& centred) {
  const size_t stride = (inputs_.size() + kFittedInputs - 1) / kFittedInputs;
  std::vector<Features> some_inputs;
  std::vector<double> some_values;
  for (size_t i = 0; i < inputs_.size(); i += stride) {
    some_inputs.push_back(inputs_[i]);
    some_values.push_back(centred[i]);
  }
  FitAssumptions(some_inputs, some_values, is_first_fit_ ? kFirstRounds : 1, &assumptions_);
  is_first_fit_ = false;
}

GaussianProcess::Prediction GaussianProcess::Predict(const Features& input) const {
  std::vector<double> correlations;
  correlations.reserve(inputs_.size());
  for (const Features& known : inputs_) correlations.push_back(Correlation(input, known));
  const double mean = std::inner_product(weights_.begin(), weights_.end(), correlations.begin(), mean_);
  const std::vector<double> whitened = SolveLower(factor_, std::move(correlations));
  const double known = std::inner_product(whitened.begin(), whitened.end(), whitened.begin(), 0.0);
  return {.mean = mean, .deviation = scale_ * std::sqrt(std::max(0.0, 1 - known))};
}

double GaussianProcess::PredictMean(const Features& input) const {
  double mean = mean_;
  for (size_t i = 0; i < inputs_.size(); ++i) mean += weights_[i] * Correlation(input, inputs_[i]);
  return mean;
}

double GaussianProcess::Correlation(const Features& a, const Features& b) const {
  return CorrelationAt(SquaredDistance(a, b));
}

double GaussianProcess::SquaredDistance(const Features& a, const Features& b) const {
  double distance = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double step = assumptions_.relevances[i] * (a[i] - b[i]);
    distance += step * step;
  }
  return distance;
}

}  // namespace telemetry::worker::tune::search
