#include "worker/replay/score_scale.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/replay/median.h"
#include "worker/replay/monotone_curve.h"

namespace telemetry::worker::replay {
namespace {

using record::Cat;

// The parts of the way from the median to the optimum between which searches are compared.
constexpr double kFirstPart = 0.01;
constexpr double kLastPart = 0.95;
constexpr double kLeastEvaluations = 2;  // between the two

double MeanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Returns the time that random search is expected to have after some evaluations. `times_ms` is ascending.
double ExpectedBest(const std::vector<double>& times_ms, double evaluations) {
  const auto count = static_cast<double>(times_ms.size());
  const double from_slowest = std::nearbyint(evaluations * (count + 1) / (evaluations + 1));
  return times_ms[times_ms.size() - 1 - static_cast<size_t>(std::min(count - 1, from_slowest))];
}

// Returns the number of evaluations after which random search is expected to have gone a part of the way from the
// median to the optimum.
absl::StatusOr<double> EvaluationsTo(double part, const std::vector<double>& times_ms, double median_ms) {
  const double optimum_ms = times_ms.front();
  const double target_ms = optimum_ms + (median_ms - optimum_ms) * (1 - part);
  const auto slower = times_ms.end() - std::upper_bound(times_ms.begin(), times_ms.end(), target_ms);
  auto from_slowest = static_cast<double>(slower);
  if (times_ms[times_ms.size() - 1 - static_cast<size_t>(slower)] == optimum_ms) from_slowest -= 1;
  if (from_slowest < 0) return absl::FailedPreconditionError("the times of its configs do not differ");
  return std::ceil(from_slowest / (static_cast<double>(times_ms.size()) + 1 - from_slowest));
}

// Returns the expected time of an evaluation as the package defines it, which counts failures on top.
double MeanCost(const StoredRun& run) {
  std::vector<double> valid_s;
  std::vector<double> failed_s;
  for (const StoredConfig& config : run.configs) (config.perf_ms ? valid_s : failed_s).push_back(config.cost_s);
  if (failed_s.empty()) return MeanOf(valid_s);
  const double failing = static_cast<double>(failed_s.size()) / static_cast<double>(run.configs.size());
  return MeanOf(valid_s) + failing * MeanOf(failed_s);
}

double Interpolated(double first, double last, size_t i) {
  return first + (last - first) * static_cast<double>(i) / static_cast<double>(ScoreScale::kSamples - 1);
}

// Returns the baseline at each time.
std::vector<double> BaselineAt(const std::vector<double>& sample_times_s, const std::vector<double>& times_ms,
                               double mean_cost_s) {
  std::vector<double> evaluations;
  std::vector<double> expected_ms;
  for (const double time_s : sample_times_s) {
    const double rounded = std::nearbyint(std::max(1.0, time_s / mean_cost_s));
    if (!evaluations.empty() && evaluations.back() == rounded) continue;
    evaluations.push_back(rounded);
    expected_ms.push_back(ExpectedBest(times_ms, rounded));
  }
  std::vector<double> baseline_ms(sample_times_s.size(), expected_ms[0]);
  if (evaluations.size() < 2) return baseline_ms;
  const double first = evaluations.front();
  const double last = evaluations.back();
  const MonotoneCurve curve(std::move(evaluations), std::move(expected_ms));
  for (size_t i = 0; i < baseline_ms.size(); ++i) baseline_ms[i] = curve.At(Interpolated(first, last, i));
  return baseline_ms;
}

}  // namespace

absl::StatusOr<ScoreScale> ScoreScale::Create(const StoredRun& run, size_t least_configs) {
  ScoreScale scale;
  std::vector<double> costs_s;
  for (const StoredConfig& config : run.configs) {
    costs_s.push_back(config.cost_s);
    if (config.perf_ms) scale.times_ms_.push_back(*config.perf_ms);
  }
  std::vector<double>& times_ms = scale.times_ms_;
  if (times_ms.size() < std::max<size_t>(2, least_configs)) {
    return absl::FailedPreconditionError(
        Cat("the dataset has times of ", times_ms.size(), " configs; ", least_configs, " are needed"));
  }
  std::sort(times_ms.begin(), times_ms.end());
  std::sort(costs_s.begin(), costs_s.end());
  scale.median_ms_ = MedianOf(times_ms);
  ASSIGN_OR_RETURN(const double first, EvaluationsTo(kFirstPart, times_ms, scale.median_ms_));
  ASSIGN_OR_RETURN(const double last, EvaluationsTo(kLastPart, times_ms, scale.median_ms_));
  for (size_t i = 0; i < kSamples; ++i) {
    scale.sample_times_s_.push_back(MedianOf(costs_s) *
                                    Interpolated(first, std::max(last, first + kLeastEvaluations), i));
  }
  scale.baseline_ms_ = BaselineAt(scale.sample_times_s_, times_ms, MeanCost(run));
  if (scale.baseline_ms_.back() <= scale.optimum_ms()) {
    return absl::FailedPreconditionError("random search finds the optimum within the budget; the space is too small");
  }
  return scale;
}

std::vector<double> ScoreScale::MeanCurve(const std::vector<std::vector<ReplayedTrial>>& searches) const {
  std::vector<double> ranks(kSamples);
  const auto rank_of = [this](double ms) {
    return static_cast<double>(std::lower_bound(times_ms_.begin(), times_ms_.end(), ms) - times_ms_.begin());
  };
  for (const std::vector<ReplayedTrial>& trials : searches) {
    double rank = rank_of(median_ms_);
    bool has_result = false;
    auto next = trials.begin();
    for (size_t i = 0; i < kSamples; ++i) {
      for (; next != trials.end() && next->end_s <= sample_times_s_[i]; ++next) {
        if (!next->perf_ms) continue;
        rank = has_result ? std::min(rank, rank_of(*next->perf_ms)) : rank_of(*next->perf_ms);
        has_result = true;
      }
      ranks[i] += rank / static_cast<double>(searches.size());
    }
  }
  std::vector<double> curve_ms;
  curve_ms.reserve(kSamples);
  for (const double rank : ranks) curve_ms.push_back(times_ms_[static_cast<size_t>(std::nearbyint(rank))]);
  return curve_ms;
}

std::vector<double> ScoreScale::Performance(const std::vector<double>& curve_ms) const {
  std::vector<double> performance;
  performance.reserve(curve_ms.size());
  for (size_t i = 0; i < curve_ms.size(); ++i) {
    performance.push_back((curve_ms[i] - baseline_ms_[i]) / (optimum_ms() - baseline_ms_[i]));
  }
  return performance;
}

double ScoreScale::Score(const std::vector<double>& curve_ms) const { return MeanOf(Performance(curve_ms)); }

}  // namespace telemetry::worker::replay
