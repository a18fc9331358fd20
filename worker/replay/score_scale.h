#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/replay/replayed_search.h"
#include "worker/replay/stored_run.h"

namespace telemetry::worker::replay {

// The time budget and the baseline of a run, against which searches are scored. They follow Willemsen et al., "A
// methodology for comparing optimization algorithms for auto-tuning" (Future Generation Computer Systems 159, 2024), in
// the form of the Python package autotuning-methodology 1.1.0.
//
// After k evaluations, a random search without replacement of N configs with a time is expected to have the config of
// rank k(N+1)/(k+1), counted from the slowest one. The budget ends when this baseline is expected to reach 95% of the
// way from the median to the optimum. A search with the best time F(t) so far has the performance
//
//   P(t) = (F(t) - baseline(t)) / (optimum - baseline(t))
//
// and its score is the mean of P over kSamples equidistant times of the budget: 0 is as good as random search, 1 would
// have found the optimum at once, and negative is worse than random search. Immutable.
class ScoreScale {
 public:
  static constexpr size_t kSamples = 1000;

  // FAILED_PRECONDITION: the run cannot be scored, because too few of its configs have a time or the times do not
  // differ enough.
  static absl::StatusOr<ScoreScale> Create(const StoredRun& run, size_t least_configs);

  double optimum_ms() const { return times_ms_.front(); }
  double median_ms() const { return median_ms_; }
  double budget_s() const { return sample_times_s_.back(); }
  // The kSamples times at which searches are compared, ascending, in simulated seconds.
  const std::vector<double>& sample_times_s() const { return sample_times_s_; }
  // The time of the kernel that random search is expected to have at each of them.
  const std::vector<double>& baseline_ms() const { return baseline_ms_; }

  // Returns the best time at each of the sample times, averaged over several searches: that of the mean rank, as in the
  // package. A search without any result so far has the median of the run. Requires at least one search.
  std::vector<double> MeanCurve(const std::vector<std::vector<ReplayedTrial>>& searches) const;
  // Returns P at each of the sample times.
  std::vector<double> Performance(const std::vector<double>& curve_ms) const;
  // Returns the mean of P.
  double Score(const std::vector<double>& curve_ms) const;

 private:
  std::vector<double> times_ms_;  // of the configs that did not fail, ascending
  double median_ms_ = 0;
  std::vector<double> sample_times_s_;
  std::vector<double> baseline_ms_;
};

}  // namespace telemetry::worker::replay
