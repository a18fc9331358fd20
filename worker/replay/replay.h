#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/codegen/config.h"
#include "worker/codegen/config_space.h"
#include "worker/replay/score_scale.h"
#include "worker/replay/stored_run.h"
#include "worker/tune/search/predicted_times.h"
#include "worker/tune/search/related_runs.h"

namespace telemetry::worker::replay {

// Appended to the name of an algorithm that starts from suggested configs and knows predictions.
inline constexpr std::string_view kWithSuggestions = "+model";
// Appended to the name of an algorithm that knows the results of related runs.
inline constexpr std::string_view kWithRelated = "+related";

// The algorithms to replay, their searches, and the runs.
struct ReplayOptions {
  std::vector<std::string> algorithms;  // at least one; an empty name is the default algorithm
  std::string effort = "quick";         // of the searches, as for `tune`
  std::optional<int> max_configs;       // of each search; unset: the effort decides
  uint64_t first_seed = 0;
  size_t seeds = 25;          // searches of each algorithm in each run; at least 1
  size_t least_configs = 50;  // runs with times of fewer configs are skipped
  size_t threads = 0;         // 0: one per processor
  // Optional. Returns starting points for the searches in a run, such as those that a cost model expects to be fast.
  // Every algorithm is then replayed a second time, with them and with `predict`, under its name and kWithSuggestions.
  std::function<std::vector<codegen::Config>(const StoredRun& run, const codegen::ConfigSpace& space)> suggest;
  // Optional. Returns the predictions of a cost model for the configs of a run.
  std::function<tune::search::PredictTime(const StoredRun& run)> predict;
  // Optional. Returns the results of related runs, the nearest first. The algorithm "surrogate", which alone uses them,
  // is then replayed another time, with them, under its name and kWithRelated; and with both, if `suggest` is set.
  std::function<std::vector<tune::search::RelatedRun>(const StoredRun& run)> related;
};

// The outcome of the search with one seed.
struct SeedOutcome {
  uint64_t seed = 0;
  size_t configs = 0;                  // proposed until the search was over
  double seconds = 0;                  // simulated time of the search
  std::optional<double> best_ms;       // unset: every config failed
  std::optional<size_t> configs_to_2;  // configs until the best time was within 2% of the optimum; unset: never
  double score = 0;                    // of this search alone
  std::vector<ReplayedTrial> gains;    // the trials that improved the best time
  std::vector<size_t> gain_configs;    // the number of configs up to each of them
};

// The outcome of an algorithm in a run.
struct AlgorithmOutcome {
  std::string algorithm;
  double score = 0;  // of the mean curve of all seeds
  // Standard error of the mean of the single searches' scores. 0 for one seed.
  double score_error = 0;
  std::vector<double> curve_ms;     // mean best time at each of the scale's sample times
  std::vector<double> performance;  // the same between the baseline (0) and the optimum (1)
  std::vector<SeedOutcome> seeds;
};

// A run with the outcomes of all algorithms in it.
struct RunOutcome {
  StoredRun run;
  ScoreScale scale;
  double coverage = 1;                       // see StoredSpace
  std::vector<AlgorithmOutcome> algorithms;  // in the order of the options
};

// A run that cannot be scored.
struct SkippedRun {
  std::string name;
  std::string reason;
};

// The outcomes of all runs.
struct ReplayReport {
  std::string dataset;  // for the reader; ReplayRuns leaves it empty
  ReplayOptions options;
  std::vector<RunOutcome> runs;
  std::vector<SkippedRun> skipped;
};

// The mean of an algorithm's outcomes over all runs.
struct OverallOutcome {
  std::string algorithm;
  double score = 0;
  double score_error = 0;
};

// Replays every algorithm with every seed in every run. Depends only on the runs and the options, not on the number of
// threads. Returns the errors of ReplaySearch.
absl::StatusOr<ReplayReport> ReplayRuns(std::vector<StoredRun> runs, ReplayOptions options);

// Returns one outcome for each algorithm; none if the report has no runs.
std::vector<OverallOutcome> OverallOf(const ReplayReport& report);

// Returns the median over the seeds of configs_to_2, where a search that never came within 2% counts as infinite;
// nullopt: the median is infinite.
std::optional<size_t> MedianConfigsTo2(const AlgorithmOutcome& outcome);
// Returns the median over the seeds of the best time, relative to the optimum; nullopt: most searches found nothing.
std::optional<double> MedianOfBest(const AlgorithmOutcome& outcome, double optimum_ms);

// Returns a table for a terminal, and a JSON object that README.md describes.
std::string ToText(const ReplayReport& report);
std::string ToJson(const ReplayReport& report);

}  // namespace telemetry::worker::replay
