#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "worker/tune/candidates.h"
#include "worker/tune/final.h"
#include "worker/tune/journal.h"
#include "worker/tune/record/attempt_counters.h"
#include "worker/tune/record/attempt_recorder.h"
#include "worker/tune/search/make_search.h"
#include "worker/tune/tune_progress.h"
#include "worker/tune/workbench.h"

namespace telemetry::worker::tune {

struct TunerOptions {
  SearchOptions search;  // its fingerprint is the tuner's
  // Limit of the whole attempt. After kSearchPart of it no config is begun; the remaining ones are recorded as
  // filtered. The final takes the rest of the time, but at least FinalEffort::kLeastRounds.
  absl::Duration time_budget = absl::InfiniteDuration();
  // Configs slower than the best so far by this factor are not measured further than needed to know it.
  double give_up_factor = 3;
  static constexpr double kSearchPart = 0.7;
  int finalists = 6;  // the fastest, and the default config
  int final_rounds = 60;
  WorkbenchOptions workbench;
  // Makes the code of a config; empty: BoundKernel::Generate. Tests and benchmarks give one that makes bad code.
  Candidates::Generate generate;
  std::function<void(const TuneProgress&)> on_progress;         // after each config
  std::function<void(const GenerationSummary&)> on_generation;  // after each generation, the final included
  std::function<void(const std::string&)> on_notice;            // what a person should read
  const std::atomic<bool>* stop = nullptr;  // set from anywhere: ends after the config that is being measured
};

// Where an attempt is recorded. What the info says of the search is filled in.
struct TuneRecord {
  AttemptInfo info;
  AttemptSinks sinks;
  Journal* journal =
      nullptr;  // null: it cannot be resumed. Else what it says of the beginning holds where it has begun
};

struct TuneResult {
  FinalRanking ranking;
  AttemptCounters counters;
  std::string attempt_id;
  bool stopped = false;  // the attempt is open; the same call goes on with it
  bool resumed = false;
};

// One attempt from its first record to its last: asks the search, generates, compiles in processes, measures in
// another, records each config as it is known, and holds a final among the fastest. What a config does wrong is that
// config's row. Not thread-safe.
//
// Errors end this process's work and leave the attempt open: no compiler (UNAVAILABLE, NOT_FOUND), a measuring process
// that cannot be started, a problem that does not fit the device, a spool or journal that cannot be written.
// INVALID_ARGUMENT: the search's options.
absl::StatusOr<TuneResult> Tune(TuneSubject subject, TunerOptions options, TuneRecord record);

}  // namespace telemetry::worker::tune
