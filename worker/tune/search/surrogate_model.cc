#include "worker/tune/search/surrogate_model.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "proto/base/parallel.h"
#include "proto/statistics/samples.h"
#include "worker/tune/search/prior_weights.h"
#include "worker/tune/search/tile_shape.h"

namespace telemetry::worker::tune::search {
namespace {

using Eigen::ArrayXd;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Features = std::vector<double>;

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

ArrayXd NormalDensity(const ArrayXd& x) { return (-0.5 * x.square()).exp() / std::sqrt(2 * std::numbers::pi); }
ArrayXd NormalShare(const ArrayXd& x) {
  return x.unaryExpr([](double value) { return 0.5 * std::erfc(-value / std::numbers::sqrt2); });
}

// The points and values that a Gaussian process learns.
struct Observations {
  void Add(const Point& point, double value) {
    points.push_back(point);
    values.push_back(value);
  }

  std::vector<Point> points;
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
    thinned.Add(all.points[order[rank]], all.values[order[rank]]);
  }
  return thinned;
}

Features FeaturesOf(const PointSpace& space, const Point& point) {
  Features features;
  for (size_t i = 0; i < point.size(); ++i) space.dimensions()[i].Encode(point[i], &features);
  const TileShape shape = ComputeTileShape(space, point);
  features.insert(features.end(), {shape.elements, shape.elements_per_thread(), shape.tiles});
  return features;
}

}  // namespace

Index CountFeatures(const PointSpace& space) { return static_cast<Index>(FeaturesOf(space, space.Default()).size()); }

MatrixXd ComputeFeatures(const PointSpace& space, absl::Span<const Point> points) {
  MatrixXd features(CountFeatures(space), static_cast<Index>(points.size()));
  for (Index i = 0; i < features.cols(); ++i) {
    const Features of_point = FeaturesOf(space, points[static_cast<size_t>(i)]);
    features.col(i) = Eigen::Map<const VectorXd>(of_point.data(), features.rows());
  }
  return features;
}

VectorXd ToVector(const std::vector<double>& values) {
  return Eigen::Map<const VectorXd>(values.data(), static_cast<Index>(values.size()));
}

SurrogateModel::SurrogateModel(const PointSpace& space, const RelatedModel* related, double predicted_variance)
    : related_(related != nullptr && related->has_times() ? related : nullptr),
      predicted_variance_(predicted_variance),
      times_(CountFeatures(space)),
      failures_(CountFeatures(space)),
      compiling_(CountFeatures(space)) {}

bool SurrogateModel::Fit(const PointSpace& space, const std::vector<Outcome>& outcomes,
                         const std::deque<Point>& refused) {
  Observations times;
  Observations failures;
  Observations compiling;
  std::vector<double> predicted_times;  // of `times`
  for (const Outcome& outcome : outcomes) {
    if (outcome.compile_s) compiling.Add(outcome.point, std::log(*outcome.compile_s));
    failures.Add(outcome.point, outcome.perf_ms ? 0 : 1);
    if (!outcome.perf_ms) continue;
    times.Add(outcome.point, std::log(*outcome.perf_ms));
    predicted_times.push_back(outcome.predicted);
  }
  for (const Point& point : refused) failures.Add(point, 1);
  if (times.values.size() < kLeastTimes) return false;
  best_ = *std::min_element(times.values.begin(), times.values.end());
  for (double& value : times.values) value = std::min(value, best_ + kSlowest);
  has_failures_ = times.values.size() < failures.values.size();
  if (compiling.values.size() >= kLeastTimes) {
    long_compiling_ = statistics::QuantilesOf(compiling.values)->median + kLongCompiling;
  }
  if (has_prior()) FitPrior(ComputeFeatures(space, times.points), predicted_times, times.values);
  // Without any time, configs like those that compiled for long would stay as unknown and as promising as before, and a
  // search would try one after another. They count as slower than three quarters of the others.
  const double slow = statistics::QuantilesOf(times.values)->p75;
  for (const Outcome& outcome : outcomes) {
    if (outcome.perf_ms || !outcome.compile_s || std::log(*outcome.compile_s) <= long_compiling_) continue;
    times.Add(outcome.point, slow);
    predicted_times.push_back(outcome.predicted);
  }
  const auto subtract = [](const ArrayXd& prior, std::vector<double>* values) {
    for (size_t i = 0; i < values->size(); ++i) (*values)[i] -= prior[static_cast<Index>(i)];
  };
  if (has_prior()) {
    subtract(Prior(ComputeFeatures(space, times.points), ToVector(predicted_times).array()), &times.values);
  }
  if (related_ != nullptr) subtract(FailurePrior(ComputeFeatures(space, failures.points)), &failures.values);
  std::vector<std::pair<GaussianProcess*, Observations>> fits;
  fits.emplace_back(&times_, std::move(times));
  if (has_failures_) fits.emplace_back(&failures_, std::move(failures));
  if (knows_compiling()) fits.emplace_back(&compiling_, std::move(compiling));
  ForEachPart(fits.size(), 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const Observations observations = Thinned(std::move(fits[i].second));
      fits[i].first->Fit(ComputeFeatures(space, observations.points), ToVector(observations.values));
    }
  });
  return true;
}

void SurrogateModel::FitPrior(const MatrixXd& features, const std::vector<double>& predicted,
                              const std::vector<double>& values) {
  std::vector<PriorPrediction> priors;
  if (related_ != nullptr) {
    const ArrayXd times = related_->ExpectedTime(features);
    priors.push_back({.predicted = {times.begin(), times.end()}, .variance = related_->variance()});
  }
  if (predicted_variance_ > 0) priors.push_back({.predicted = predicted, .variance = predicted_variance_});
  const std::vector<double> weights = PriorWeights(priors, values);
  if (related_ != nullptr) related_weight_ = weights.front();
  if (predicted_variance_ > 0) predicted_weight_ = weights.back();
}

ArrayXd SurrogateModel::Prior(const MatrixXd& features, const ArrayXd& predicted) const {
  ArrayXd prior = predicted_weight_ * predicted;
  if (related_ != nullptr) prior += related_weight_ * related_->ExpectedTime(features);
  return prior;
}

ArrayXd SurrogateModel::FailurePrior(const MatrixXd& features) const {
  if (related_ == nullptr) return ArrayXd::Zero(features.cols());
  return related_->ExpectedFailure(features);
}

ArrayXd SurrogateModel::ChanceToRun(const MatrixXd& features) const {
  ArrayXd failure = FailurePrior(features);
  if (has_failures_) failure += failures_.PredictMeans(features).array();
  return (1 - failure).max(0.02).min(1.0) * ChanceToCompile(features);
}

ArrayXd SurrogateModel::ChanceToCompile(const MatrixXd& features) const {
  if (!knows_compiling()) return ArrayXd::Ones(features.cols());
  return NormalShare((long_compiling_ - compiling_.PredictMeans(features).array()) / kCompilingDeviation);
}

ArrayXd SurrogateModel::ExpectedGain(const MatrixXd& features, const ArrayXd& predicted) const {
  const GaussianProcess::Predictions times = times_.Predict(features);
  const ArrayXd deviations = times.deviations.array().max(1e-9);
  const ArrayXd lead = (best_ - times.means.array() - Prior(features, predicted)) / deviations;
  const ArrayXd gain = deviations * (lead * NormalShare(lead) + NormalDensity(lead));
  return gain.max(0) * ChanceToRun(features);
}

ArrayXd SurrogateModel::ExpectedTime(const MatrixXd& features, const ArrayXd& predicted) const {
  return times_.PredictMeans(features).array() + Prior(features, predicted) +
         kFailureMalus * (1 - ChanceToRun(features));
}

}  // namespace telemetry::worker::tune::search
