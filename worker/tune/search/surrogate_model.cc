#include "worker/tune/search/surrogate_model.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <numbers>
#include <numeric>
#include <utility>

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

double NormalDensity(double x) { return std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi); }
double NormalShare(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

// Inputs and values for a Gaussian process.
struct Observations {
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

// Returns the slope of the values over what the related runs predict for them, from 0 to 1. A few imagined results with
// the variance of the related ones, for which the prediction is right, count among the observations.
double TrustIn(const std::vector<double>& predicted, const std::vector<double>& values, double variance) {
  constexpr double kImagined = 4;
  const auto mean = [](const std::vector<double>& of) {
    return std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
  };
  const double mean_predicted = mean(predicted);
  const double mean_value = mean(values);
  double products = kImagined * variance;
  double squares = products + 1e-9;
  for (size_t i = 0; i < values.size(); ++i) {
    products += (predicted[i] - mean_predicted) * (values[i] - mean_value);
    squares += (predicted[i] - mean_predicted) * (predicted[i] - mean_predicted);
  }
  return std::clamp(products / squares, 0.0, 1.0);
}

}  // namespace

Features ComputeFeatures(const PointSpace& space, const Point& point) {
  Features features;
  for (size_t i = 0; i < point.size(); ++i) space.dimensions()[i].Encode(point[i], &features);
  const TileShape shape = ComputeTileShape(space, point);
  features.insert(features.end(), {shape.elements, shape.elements_per_thread(), shape.tiles});
  return features;
}

SurrogateModel::SurrogateModel(const PointSpace& space, const RelatedModel* related)
    : related_(related != nullptr && related->has_times() ? related : nullptr),
      times_(ComputeFeatures(space, space.Default()).size()),
      failures_(ComputeFeatures(space, space.Default()).size()) {}

bool SurrogateModel::Fit(const PointSpace& space, const std::vector<Outcome>& outcomes,
                         const std::deque<Point>& refused) {
  Observations times;
  Observations failures;
  for (const Outcome& outcome : outcomes) {
    Features features = ComputeFeatures(space, outcome.point);
    if (outcome.perf_ms) {
      times.inputs.push_back(features);
      times.values.push_back(std::log(*outcome.perf_ms));
    }
    failures.inputs.push_back(std::move(features));
    failures.values.push_back(outcome.perf_ms ? 0 : 1);
  }
  for (const Point& point : refused) {
    failures.inputs.push_back(ComputeFeatures(space, point));
    failures.values.push_back(1);
  }
  if (times.values.size() < kLeastTimes) return false;
  best_ = *std::min_element(times.values.begin(), times.values.end());
  for (double& value : times.values) value = std::min(value, best_ + kSlowest);
  has_failures_ = times.values.size() < failures.values.size();
  if (related_ != nullptr) {
    std::vector<double> predicted;
    for (const Features& input : times.inputs) predicted.push_back(related_->ExpectedTime(input));
    trust_ = TrustIn(predicted, times.values, related_->variance());
    for (size_t i = 0; i < times.values.size(); ++i) times.values[i] -= trust_ * predicted[i];
    for (size_t i = 0; i < failures.values.size(); ++i) failures.values[i] -= FailurePrior(failures.inputs[i]);
  }
  const auto fit = [](GaussianProcess* process, Observations observations) {
    observations = Thinned(std::move(observations));
    process->Fit(std::move(observations.inputs), observations.values);
  };
  // Without failures the future has nothing to wait for.
  std::future<void> failures_fit;
  if (has_failures_) failures_fit = std::async(std::launch::async, fit, &failures_, std::move(failures));
  fit(&times_, std::move(times));
  if (failures_fit.valid()) failures_fit.get();
  return true;
}

double SurrogateModel::Prior(const Features& features) const {
  return related_ == nullptr ? 0 : trust_ * related_->ExpectedTime(features);
}

double SurrogateModel::FailurePrior(const Features& features) const {
  return related_ == nullptr ? 0 : related_->ExpectedFailure(features);
}

double SurrogateModel::ChanceToRun(const Features& features) const {
  const double own = has_failures_ ? failures_.PredictMean(features) : 0;
  return std::clamp(1 - own - FailurePrior(features), 0.02, 1.0);
}

double SurrogateModel::ExpectedGain(const Features& features) const {
  const GaussianProcess::Prediction time = times_.Predict(features);
  const double deviation = std::max(1e-9, time.deviation);
  const double lead = (best_ - time.mean - Prior(features)) / deviation;
  const double gain = deviation * (lead * NormalShare(lead) + NormalDensity(lead));
  return std::max(0.0, gain) * ChanceToRun(features);
}

double SurrogateModel::ExpectedTime(const Features& features) const {
  return times_.PredictMean(features) + Prior(features) + kFailureMalus * (1 - ChanceToRun(features));
}

}  // namespace telemetry::worker::tune::search
