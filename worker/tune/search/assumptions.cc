#include "worker/tune/search/assumptions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "worker/tune/search/cholesky.h"

namespace telemetry::worker::tune::search {
namespace {

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
  Fit(const std::vector<std::vector<double>>& inputs, const std::vector<double>& values, Assumptions* assumptions)
      : inputs_(inputs),
        values_(values),
        assumptions_(*assumptions),
        squared_distances_(inputs.size()),
        trial_(inputs.size()) {
    for (size_t i = 0; i < assumptions_.relevances.size(); ++i) Move(i, Squared(assumptions_.relevances[i]));
    best_ = Likelihood();
  }

  void ImproveRelevance(size_t feature) {
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

  void Set(size_t feature, double relevance) {
    double& held = assumptions_.relevances[feature];
    const double change = Squared(relevance) - Squared(held);
    held = relevance;
    if (change != 0) Move(feature, change);
  }

  // Adds a feature's contribution to all squared distances.
  void Move(size_t feature, double squared_relevance) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      double* row = squared_distances_.row(i);
      for (size_t j = 0; j < i; ++j) row[j] += squared_relevance * Squared(inputs_[i][feature] - inputs_[j][feature]);
    }
  }

  // Returns the log likelihood of the values, with their most likely scale, plus the log prior of the relevances.
  double Likelihood() {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const double* distances = squared_distances_.row(i);
      double* row = trial_.row(i);
      for (size_t j = 0; j < i; ++j) row[j] = CorrelationAt(distances[j]);
      row[i] = 1 + assumptions_.noise;
    }
    if (!Factorize(&trial_)) return -std::numeric_limits<double>::infinity();
    double squares = 1e-12;
    for (const double x : SolveLower(trial_, values_)) squares += x * x;
    double likelihood = -0.5 * static_cast<double>(values_.size()) * std::log(squares);
    for (size_t i = 0; i < trial_.size(); ++i) likelihood -= std::log(trial_.row(i)[i]);
    for (const double relevance : assumptions_.relevances) {
      likelihood -= 0.5 * Squared(std::log(relevance / kRelevance) / kRelevanceSpread);
    }
    return likelihood;
  }

  const std::vector<std::vector<double>>& inputs_;
  const std::vector<double>& values_;
  Assumptions& assumptions_;
  LowerTriangle squared_distances_;
  LowerTriangle trial_;
  double best_ = 0;
};

}  // namespace

Assumptions Assumptions::For(size_t features) {
  return {.relevances = std::vector<double>(features, kRelevance), .noise = kNoise};
}

double CorrelationAt(double squared_distance) {
  const double far = std::sqrt(5 * std::max(0.0, squared_distance));
  return (1 + far + far * far / 3) * std::exp(-far);
}

void FitAssumptions(const std::vector<std::vector<double>>& inputs, const std::vector<double>& values, int rounds,
                    Assumptions* assumptions) {
  Fit fit(inputs, values, assumptions);
  for (int round = 0; round < rounds; ++round) {
    for (size_t feature = 0; feature < assumptions->relevances.size(); ++feature) fit.ImproveRelevance(feature);
    fit.ImproveNoise();
  }
}

}  // namespace telemetry::worker::tune::search
