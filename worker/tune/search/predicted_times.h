#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "absl/types/span.h"
#include "worker/codegen/config.h"
#include "worker/tune/search/point_space.h"

namespace telemetry::worker::tune::search {

// Predicts the logarithm of a config's time, up to a constant that is the same for all configs of the space. Smaller is
// faster. Called from several threads at once; must be deterministic.
using PredictTime = std::function<double(const codegen::Config&)>;

// The times that a cost model predicts for the points of a space. It keeps predictions, because a prediction needs the
// code of the config and searches consider the same points again and again. Not thread-safe.
class PredictedTimes {
 public:
  // Predictions are cut off at these distances from 0: a factor of 20 in time. Models are trained with values up to 2.
  // A model with wild values would otherwise mislead a search until it has many results.
  static constexpr double kMost = 3;
  // Predictions that are kept. Beyond that it begins anew.
  static constexpr size_t kMostKept = 200'000;

  // `space` must outlive the object. An empty `predict` predicts nothing.
  PredictedTimes(const PointSpace* space, PredictTime predict) : space_(space), predict_(std::move(predict)) {}

  // False: there is no model, and all predictions are 0.
  bool has_model() const { return predict_ != nullptr; }
  // Returns the predictions, computing those that are missing on several threads. 0: the model returned no number.
  std::vector<double> Of(absl::Span<const Point> points);
  double Of(const Point& point) { return Of(absl::MakeConstSpan(&point, 1))[0]; }
  // Returns the variance of the predictions among some random valid points of the space; 0 without a model.
  double Variance();

 private:
  const PointSpace* const space_;
  const PredictTime predict_;
  std::map<Point, double> kept_;
};

}  // namespace telemetry::worker::tune::search
