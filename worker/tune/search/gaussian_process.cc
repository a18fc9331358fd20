#include "worker/tune/search/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace telemetry::worker::tune::search {
namespace {

constexpr size_t kFittedInputs = 120;  // limit of the inputs that hyperparameters are fitted to, which is O(n^3)
constexpr int kFirstRounds = 3;
// The growth of the observations after which the hyperparameters are fitted again: it takes most of the time of a Fit.
constexpr double kGrowth = 1.1;

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Uses two sums, because with a single sum each addition would wait for the one before.
double SquaredDistance(const Features& a, const Features& b) {
  double even = 0;
  double odd = 0;
  size_t i = 0;
  for (; i + 2 <= a.size(); i += 2) {
    even += (a[i] - b[i]) * (a[i] - b[i]);
    odd += (a[i + 1] - b[i + 1]) * (a[i + 1] - b[i + 1]);
  }
  if (i < a.size()) even += (a[i] - b[i]) * (a[i] - b[i]);
  return even + odd;
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
  const size_t size = inputs_.size();
  if (static_cast<double>(size) >= kGrowth * static_cast<double>(improved_at_)) Improve(centred);
  for (Features& input : inputs_) input = Scaled(input);
  factor_ = LowerTriangle(size);
  for (size_t i = 0; i < size; ++i) {
    double* row = factor_.row(i);
    for (size_t j = 0; j < i; ++j) row[j] = CorrelationAt(SquaredDistance(inputs_[i], inputs_[j]));
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
  FitAssumptions(some_inputs, some_values, improved_at_ == 0 ? kFirstRounds : 1, &assumptions_);
  improved_at_ = inputs_.size();
}

Features GaussianProcess::Scaled(const Features& input) const {
  Features scaled(input.size());
  for (size_t i = 0; i < input.size(); ++i) scaled[i] = assumptions_.relevances[i] * input[i];
  return scaled;
}

std::vector<double> GaussianProcess::Correlations(const Features& scaled) const {
  std::vector<double> correlations;
  correlations.reserve(inputs_.size());
  for (const Features& known : inputs_) correlations.push_back(CorrelationAt(SquaredDistance(scaled, known)));
  return correlations;
}

double GaussianProcess::MeanAt(const std::vector<double>& correlations) const {
  return std::inner_product(weights_.begin(), weights_.end(), correlations.begin(), mean_);
}

GaussianProcess::Prediction GaussianProcess::Predict(const Features& input) const {
  std::vector<double> correlations = Correlations(Scaled(input));
  const double mean = MeanAt(correlations);
  const std::vector<double> whitened = SolveLower(factor_, std::move(correlations));
  const double known = std::inner_product(whitened.begin(), whitened.end(), whitened.begin(), 0.0);
  return {.mean = mean, .deviation = scale_ * std::sqrt(std::max(0.0, 1 - known))};
}

double GaussianProcess::PredictMean(const Features& input) const { return MeanAt(Correlations(Scaled(input))); }

double GaussianProcess::Correlation(const Features& a, const Features& b) const {
  return CorrelationAt(SquaredDistance(Scaled(a), Scaled(b)));
}

}  // namespace telemetry::worker::tune::search
