#include "worker/tune/search/related_model.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "worker/tune/search/surrogate_model.h"

namespace telemetry::worker::tune::search {
namespace {

using Eigen::VectorXd;

constexpr size_t kLeastRelatedTimes = 5;
constexpr size_t kMostRelatedRows = 400;  // of all runs: the model is O(n^3)
constexpr size_t kBestOfRun = 8;          // points of a run among best_points()
const double kSlowestRelated =
    std::log(10.0);  // cap above the best: the times of slow configs do not predict fast ones

// A result of a related run.
struct RelatedRow {
  Point point;
  std::optional<double> value;  // log of the time relative to the run's best; unset: it failed
  double noise = 0;
};

// Returns the results of a run that the space can express, the fastest first and failures last.
std::vector<RelatedRow> RowsOf(const PointSpace& space, const RelatedRun& run) {
  std::vector<RelatedRow> rows;
  double best = 0;
  size_t times = 0;
  for (const Trial& trial : run.trials) {
    std::optional<Point> point = space.FindPoint(trial.config);
    if (!point) continue;
    const bool ran = trial.perf_ms && std::isfinite(*trial.perf_ms) && *trial.perf_ms > 0;
    rows.push_back({.point = *std::move(point), .value = {}, .noise = run.noise});
    if (!ran) continue;
    rows.back().value = std::log(*trial.perf_ms);
    best = times == 0 ? *rows.back().value : std::min(best, *rows.back().value);
    ++times;
  }
  if (times < kLeastRelatedTimes) return {};
  for (RelatedRow& row : rows) {
    if (row.value) row.value = std::min(*row.value - best, kSlowestRelated);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const RelatedRow& a, const RelatedRow& b) {
    return a.value.value_or(kSlowestRelated + 1) < b.value.value_or(kSlowestRelated + 1);
  });
  return rows;
}

}  // namespace

RelatedModel::RelatedModel(const PointSpace& space, const std::vector<RelatedRun>& runs)
    : times_(CountFeatures(space)), failures_(CountFeatures(space)) {
  std::vector<RelatedRow> rows;
  for (size_t i = 0; i < std::min(runs.size(), kMostRelatedRuns); ++i) {
    if (!std::isfinite(runs[i].noise)) continue;
    std::vector<RelatedRow> of_run = RowsOf(space, runs[i]);
    for (size_t k = 0; k < std::min(kBestOfRun, of_run.size()); ++k) best_points_.push_back(of_run[k].point);
    std::move(of_run.begin(), of_run.end(), std::back_inserter(rows));
  }
  const size_t stride = (rows.size() + kMostRelatedRows - 1) / kMostRelatedRows;
  std::vector<Point> points;
  std::vector<Point> failure_points;
  std::vector<double> values;
  std::vector<double> noises;
  std::vector<double> failures;
  std::vector<double> failure_noises;
  for (size_t i = 0; i < rows.size(); i += stride) {
    if (rows[i].value) {
      points.push_back(rows[i].point);
      values.push_back(*rows[i].value);
      noises.push_back(rows[i].noise);
    }
    failure_points.push_back(rows[i].point);
    failures.push_back(rows[i].value ? 0 : 1);
    failure_noises.push_back(rows[i].noise);
  }
  if (values.size() < kLeastRelatedTimes) return;
  has_times_ = true;
  has_failures_ = values.size() < failures.size();
  const VectorXd value_vector = ToVector(values);
  variance_ = (value_vector.array() - value_vector.mean()).square().mean();
  times_.Fit(ComputeFeatures(space, points), value_vector, ToVector(noises));
  if (has_failures_)
    failures_.Fit(ComputeFeatures(space, failure_points), ToVector(failures), ToVector(failure_noises));
}

}  // namespace telemetry::worker::tune::search
