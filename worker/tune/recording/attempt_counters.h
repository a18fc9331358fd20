#pragma once

#include <cstdint>
#include <optional>

#include "proto/record/json.h"

namespace telemetry::worker::tune::recording {

// The counters of an attempt, for Attempt.counters_json. The JSON's keys are these names; counters without a value are
// null.
struct AttemptCounters {
  int64_t configs_tested = 0;     // configs with a status other than "started"
  int64_t compile_failures = 0;   // the compiler rejected the source, or the code did not load
  int64_t worker_failures = 0;    // a measuring process was lost: a crash, an illegal access
  int64_t accuracy_failures = 0;  // wrong results
  int64_t timeouts = 0;           // during compilation or a run
  int64_t unique_sources = 0;     // sources that were compiled
  int64_t deduplicated = 0;       // configs whose source had been compiled before
  int64_t filtered = 0;           // configs that were excluded before they were compiled
  int64_t generations = 0;
  double seconds_total = 0;  // from the beginning to the end of the attempt
  // Sums over all processes, which may exceed seconds_total.
  double seconds_compiling = 0;
  double seconds_measuring = 0;
  // The fastest config with right results. Unset: there is none.
  std::optional<double> best_perf_ms;
  std::optional<uint64_t> best_config_id;  // 16 hex digits in the JSON
};

// Returns the number of configs that were compiled: the tested configs without those that were excluded or whose code
// was that of an earlier config.
inline int64_t ConfigsRun(const AttemptCounters& counters) {
  return counters.configs_tested - counters.deduplicated - counters.filtered;
}

// Returns the counters as JSON. Values that are not finite become null.
record::Json CountersJson(const AttemptCounters& counters);

}  // namespace telemetry::worker::tune::recording
