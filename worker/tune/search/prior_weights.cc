#include "worker/tune/search/prior_weights.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace telemetry::worker::tune::search {
namespace {

constexpr double kImagined = 4;  // results
// Improvements of one factor after the other. Two predictions that hardly differ need the most.
constexpr int kRounds = 50;

std::vector<double> Centred(std::vector<double> values) {
  if (values.empty()) return values;
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  for (double& value : values) value -= mean;
  return values;
}

}  // namespace

std::vector<double> PriorWeights(const std::vector<PriorPrediction>& priors, const std::vector<double>& values) {
  const double imagined_weight = 1 / std::max<double>(1, static_cast<double>(priors.size()));
  std::vector<double> weights(priors.size(), imagined_weight);
  std::vector<std::vector<double>> predicted;
  for (const PriorPrediction& prior : priors) predicted.push_back(Centred(prior.predicted));
  std::vector<double> rest = Centred(values);  // that the priors do not predict
  const auto add = [&](size_t prior, double factor) {
    for (size_t i = 0; i < rest.size(); ++i) rest[i] += factor * predicted[prior][i];
  };
  for (size_t k = 0; k < priors.size(); ++k) add(k, -weights[k]);
  for (int round = 0; round < kRounds; ++round) {
    for (size_t k = 0; k < priors.size(); ++k) {
      add(k, weights[k]);
      const double imagined = kImagined * priors[k].variance;
      const double products =
          std::inner_product(rest.begin(), rest.end(), predicted[k].begin(), imagined * imagined_weight);
      const double squares =
          std::inner_product(predicted[k].begin(), predicted[k].end(), predicted[k].begin(), imagined + 1e-9);
      weights[k] = std::clamp(products / squares, 0.0, 1.0);
      add(k, -weights[k]);
    }
  }
  return weights;
}

}  // namespace telemetry::worker::tune::search
