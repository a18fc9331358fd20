#include "worker/tune/search/surrogate_model.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <numbers>
#include <utility>

#include "proto/statistics/samples.h"
#include "worker/tune/search/prior_weights.h"
#include "worker/tune/search/tile_shape.h"

namespace telemetry::worker::tune::search {
namespace {

constexpr size_t kLeastTimes = 5;
// A model keeps at most kObservations: the kBestObservations with the lowest values, and an even selection of the
// others.
constexpr size_t kBestObservations = 250;
constexpr size_t kObservations = 400;
const double kSlowest = std::log(10.0);  // cap above the best: the times of slow configs do not predict fast ones
constexpr double kFailureMalus = 0.5;
// A source that compiles for longer than this multiple of the median is not worth its time: the tuner ends it soon, and
// its code is hardly ever fast. The deviation is that of the logarithm of predicted from true times.
const double kLongCompiling = std::log(2.5);
constexpr double kCompilingDeviation = 0.4;

double NormalDensity(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi); }
double NormalShare(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

// Inputs and values for a Gaussian process.
struct Observations {
  void Add(Features input, double value) {
    inputs.push_back(std::move(input));
    values.push_back(value);
  }

  std::vector<Features> inputs;
  std::vector<double> values;
};

// Returns at most kObservations: those with the lowest values, and an even selection of the others.
Observations Thinned(Observations all) {
  const size_t size = all.values.size();
  if (size <= kObservations) return all;
  std::vector<size_t> order(size);
  for (size_t i = 0; i < size; ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return all.values[a] < all.values[b]; });
  Observations thinned;
  const size_t others = kObservations - kBestObservations;
  for (size_t i = 0; i < kObservations; ++i) {
    const size_t rank =
        i < kBestObservations ? i : kBestObservations + (i - kBestObservations) * (size - kBestObservations) / others;
    thinned.inputs.push_back(std::move(all.inputs[order[rank]]));
    thinned.values.push_back(all.values[order[rank]]);
  }
  return thinned;
}

}  // namespace

Features ComputeFeatures(const PointSpace& space, const Point& point) {
  Features features;
  for (size_t i = 0; i < point.size(); ++i) space.dimensions()[i].Encode(point[i], &features);
  const TileShape shape = ComputeTileShape(space, point);
  features.insert(features.end(), {shape.elements, shape.elements_per_thread(), shape.tiles});
  return features;
}

SurrogateModel::SurrogateModel(const PointSpace& space, const RelatedModel* related, double predicted_variance)
    : related_(related != nullptr && related->has_times() ? related : nullptr),
      predicted_variance_(predicted_variance),
      times_(ComputeFeatures(space, space.Default()).size()),
      failures_(ComputeFeatures(space, space.Default()).size()),
      compiling_(ComputeFeatures(space, space.Default()).size()) {}

bool SurrogateModel::Fit(const PointSpace& space, const std::vector<Outcome>& outcomes,
                         const std::deque<Point>& refused) {
  Observations times;
  Observations failures;
  Observations compiling;
  std::vector<double> predicted_times;  // of `times`
  for (const Outcome& outcome : outcomes) {
    const Features features = ComputeFeatures(space, outcome.point);
    if (outcome.compile_s) compiling.Add(features, std::log(*outcome.compile_s));
    failures.Add(features, outcome.perf_ms ? 0 : 1);
    if (!outcome.perf_ms) continue;
    times.Add(features, std::log(*outcome.perf_ms));
    predicted_times.push_back(outcome.predicted);
  }
  for (const Point& point : refused) failures.Add(ComputeFeatures(space, point), 1);
  if (times.values.size() < kLeastTimes) return false;
  best_ = *std::min_element(times.values.begin(), times.values.end());
  for (double& value : times.values) value = std::min(value, best_ + kSlowest);
  has_failures_ = times.values.size() < failures.values.size();
  if (compiling.values.size() >= kLeastTimes) {
    long_compiling_ = statistics::QuantilesOf(compiling.values)->median + kLongCompiling;
  }
  FitPrior(times.inputs, predicted_times, times.values);
  // Without any time, configs like those that compiled for long would stay as unknown and as promising as before, and a
  // search would try one after another. They count as slower than three quarters of the others.
  const double slow = statistics::QuantilesOf(times.values)->p75;
  for (const Outcome& outcome : outcomes) {
    if (outcome.perf_ms || !outcome.compile_s || std::log(*outcome.compile_s) <= long_compiling_) continue;
    times.Add(ComputeFeatures(space, outcome.point), slow);
    predicted_times.push_back(outcome.predicted);
  }
  for (size_t i = 0; i < times.values.size(); ++i) times.values[i] -= Prior(times.inputs[i], predicted_times[i]);
  for (size_t i = 0; i < failures.values.size(); ++i) failures.values[i] -= FailurePrior(failures.inputs[i]);
  const auto fit = [](GaussianProcess* process, Observations observations) {
    observations = Thinned(std::move(observations));
    process->Fit(std::move(observations.inputs), observations.values);
  };
  std::vector<std::future<void>> fits;
  if (has_failures_) fits.push_back(std::async(std::launch::async, fit, &failures_, std::move(failures)));
  if (knows_compiling()) fits.push_back(std::async(std::launch::async, fit, &compiling_, std::move(compiling)));
  fit(&times_, std::move(times));
  return true;
}

void SurrogateModel::FitPrior(const std::vector<Features>& inputs, const std::vector<double>& predicted,
                              const std::vector<double>& values) {
  std::vector<PriorPrediction> priors;
  if (related_ != nullptr) {
    priors.push_back({.predicted = {}, .variance = related_->variance()});
    for (const Features& input : inputs) priors.back().predicted.push_back(related_->ExpectedTime(input));
  }
  if (predicted_variance_ > 0) priors.push_back({.predicted = predicted, .variance = predicted_variance_});
  const std::vector<double> weights = PriorWeights(priors, values);
  if (related_ != nullptr) related_weight_ = weights.front();
  if (predicted_variance_ > 0) predicted_weight_ = weights.back();
}

double SurrogateModel::Prior(const Features& features, double predicted) const {
  const double related = related_ == nullptr ? 0 : related_weight_ * related_->ExpectedTime(features);
  return related + predicted_weight_ * predicted;
}

double SurrogateModel::FailurePrior(const Features& features) const {
  return related_ == nullptr ? 0 : related_->ExpectedFailure(features);
}

double SurrogateModel::ChanceToRun(const Features& features) const {
  const double own = has_failures_ ? failures_.PredictMean(features) : 0;
  return std::clamp(1 - own - FailurePrior(features), 0.02, 1.0) * ChanceToCompile(features);
}

double SurrogateModel::ChanceToCompile(const Features& features) const {
  if (!knows_compiling()) return 1;
  return NormalShare((long_compiling_ - compiling_.PredictMean(features)) / kCompilingDeviation);
}

double SurrogateModel::ExpectedGain(const Features& features, double predicted) const {
  const GaussianProcess::Prediction time = times_.Predict(features);
  const double deviation = std::max(1e-9, time.deviation);
  const double lead = (best_ - time.mean - Prior(features, predicted)) / deviation;
  const double gain = deviation * (lead * NormalShare(lead) + NormalDensity(lead));
  return std::max(0.0, gain) * ChanceToRun(features);
}

double SurrogateModel::ExpectedTime(const Features& features, double predicted) const {
  return times_.PredictMean(features) + Prior(features, predicted) + kFailureMalus * (1 - ChanceToRun(features));
}

}  // namespace telemetry::worker::tune::search
