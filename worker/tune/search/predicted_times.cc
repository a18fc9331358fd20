#include "worker/tune/search/predicted_times.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "proto/base/parallel.h"
#include "proto/base/random.h"
#include "worker/tune/search/sampler.h"

namespace telemetry::worker::tune::search {
namespace {

constexpr size_t kAtOnce = 8;  // points that one thread takes at a time: generating code takes most of a prediction
constexpr int kSampled = 100;  // random points of Variance

}  // namespace

std::vector<double> PredictedTimes::Of(absl::Span<const Point> points) {
  std::vector<double> predicted(points.size(), 0);
  if (!has_model()) return predicted;
  if (kept_.size() + points.size() > kMostKept) kept_.clear();
  std::vector<size_t> missing;
  for (size_t i = 0; i < points.size(); ++i) {
    const auto found = kept_.find(points[i]);
    if (found == kept_.end()) {
      missing.push_back(i);
    } else {
      predicted[i] = found->second;
    }
  }
  ForEachPart(missing.size(), kAtOnce, [&](size_t begin, size_t end) {
    for (size_t k = begin; k < end; ++k) {
      const double time = predict_(space_->ToConfig(points[missing[k]]));
      predicted[missing[k]] = std::isnan(time) ? 0 : std::clamp(time, -kMost, kMost);
    }
  });
  for (const size_t i : missing) kept_.emplace(points[i], predicted[i]);
  return predicted;
}

double PredictedTimes::Variance() {
  if (!has_model()) return 0;
  Random random(0);
  Sampler sampler(space_, &random);
  std::vector<Point> points;
  for (int i = 0; i < kSampled; ++i) {
    for (Point point : {sampler.Plausible(), sampler.Uniform()}) {
      if (space_->IsValid(point)) points.push_back(std::move(point));
    }
  }
  if (points.empty()) return 0;
  const std::vector<double> predicted = Of(points);
  const auto count = static_cast<double>(predicted.size());
  const double mean = std::accumulate(predicted.begin(), predicted.end(), 0.0) / count;
  double variance = 0;
  for (const double time : predicted) variance += (time - mean) * (time - mean) / count;
  return variance;
}

}  // namespace telemetry::worker::tune::search
