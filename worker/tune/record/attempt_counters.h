#pragma once

#include <cstdint>
#include <optional>

#include "proto/record/json.h"

namespace telemetry::worker::tune {

// What an attempt came to: Attempt.counters_json. The JSON has these names as keys; those without a value are null.
struct AttemptCounters {
  int64_t configs_tested = 0;     // that were proposed and got a status other than "started"
  int64_t compile_failures = 0;   // the source was refused, or the code did not load
  int64_t worker_failures = 0;    // a measuring process was lost: a crash, an illegal access
  int64_t accuracy_failures = 0;  // ran, and gave wrong results
  int64_t timeouts = 0;           // while compiling or running
  int64_t unique_sources = 0;     // that were compiled
  int64_t deduplicated = 0;       // configs whose source had been compiled before
  int64_t generations = 0;
  double seconds_total = 0;  // from the attempt's beginning to its end
  // Of all processes together: may be more than seconds_total.
  double seconds_compiling = 0;
  double seconds_measuring = 0;
  // The fastest right config. No value: none was right.
  std::optional<double> best_perf_ms;
  std::optional<uint64_t> best_config_id;  // 16 hex digits in the JSON
};

// Returns how many configs were run: those tested, without those whose code had been run before.
inline int64_t ConfigsRun(const AttemptCounters& counters) { return counters.configs_tested - counters.deduplicated; }

// Values that are not finite become null.
record::Json CountersJson(const AttemptCounters& counters);

}  // namespace telemetry::worker::tune
