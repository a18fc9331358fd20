#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "worker/tune/candidates.h"
#include "worker/tune/final_stage.h"
#include "worker/tune/journal.h"
#include "worker/tune/recording/attempt_counters.h"
#include "worker/tune/recording/attempt_recorder.h"
#include "worker/tune/search/make_search.h"
#include "worker/tune/tune_processes.h"
#include "worker/tune/tune_progress.h"

namespace telemetry::worker::tune {

// The options of Tune().
struct TunerOptions {
  search::SearchOptions search;  // the tuner sets its fingerprint
  // Time limit of the whole attempt. After the fraction kSearchPart of it no config begins; the remaining configs of
  // the generation are recorded as filtered. The final uses the rest of the time, but runs at least
  // FinalEffort::kLeastRounds rounds.
  absl::Duration time_budget = absl::InfiniteDuration();
  // The measurement of a config stops early once the config is known to be slower than the best so far by this factor.
  double give_up_factor = 3;
  // A config that is slower than the best so far by this factor gets fewer samples (MeasureEffort::far_above_ms).
  double far_factor = 1.1;
  static constexpr double kSearchPart = 0.7;
  int finalists = 6;  // the number of fastest configs in the final; the default config is added
  int final_rounds = 60;
  TuneProcessOptions processes;
  // Generates the code of a config; empty: BoundKernel::Generate. Tests and benchmarks inject bad code here.
  Candidates::Generate generate;
  std::function<void(const TuneProgress&)> on_progress;         // after each config
  std::function<void(const GenerationSummary&)> on_generation;  // after each generation, the final included
  // Called before the final, when its configs are compiled: the attempt needs the compilers no longer. An attempt
  // without a final does not call it.
  std::function<void()> on_final;
  std::function<void(const std::string&)> on_notice;  // receives messages for the user
  const std::atomic<bool>* stop = nullptr;            // once set, from any thread: tuning ends after the current config
};

// The destinations of an attempt's records. The tuner sets the fields of `info` that describe the search.
struct TuneRecord {
  recording::AttemptInfo info;
  recording::AttemptSinks sinks;
  // Null: the attempt cannot be resumed. If the journal has begun, its attempt_id, start time, starting points
  // and related runs replace those given here.
  Journal* journal = nullptr;
};

// The result of Tune().
struct TuneResult {
  FinalRanking ranking;
  recording::AttemptCounters counters;
  std::string attempt_id;
  std::vector<uint64_t> failed_runs;  // TrialLog::FailedRuns
  bool stopped = false;               // the attempt is unfinished; the same call resumes it
  bool resumed = false;
  std::vector<search::Trial> results;  // of the configs that were compiled, in their order
  absl::Duration preparing;            // from the start until the measuring process was ready
};

// Runs one attempt from its first record to its last: proposes configs, generates their code, compiles it in compiler
// processes, measures it in a measuring process, records each result immediately, and runs a final among the fastest
// configs. The failure of a config is recorded in its row and does not end the attempt. Not thread-safe.
//
// After an error the attempt remains unfinished and can be resumed. Errors are: no compiler (UNAVAILABLE, NOT_FOUND), a
// measuring process that cannot be started, a problem that does not fit the device, a spool or journal that cannot be
// written. Returns INVALID_ARGUMENT if the options of the search are invalid.
absl::StatusOr<TuneResult> Tune(TuneSubject subject, TunerOptions options, TuneRecord record);

}  // namespace telemetry::worker::tune
