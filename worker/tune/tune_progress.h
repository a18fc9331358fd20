#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "worker/tune/recording/attempt_row.h"

namespace telemetry::worker::tune {

// The progress of an attempt in its current generation or final.
struct TuneProgress {
  int64_t generation = 0;
  bool is_final = false;
  int64_t done = 0;               // configs of this generation, or rounds of the final
  int64_t proposed = 0;           // configs proposed for this generation, or planned rounds of the final
  std::optional<double> best_ms;  // unset: no config has a time yet
  // The pace so far and the estimated time left of this generation or final. Unset: nothing is done yet.
  std::optional<double> configs_per_s;  // always unset in the final
  std::optional<double> left_s;
};

// Returns a progress bar: "[=====>     ] gen 2  37/60  best 0.0196 ms  3.1 configs/s  7 s left", with "final" instead
// of "gen 2" in the final. `width` is the width of the bar in characters.
std::string ProgressText(const TuneProgress& progress, int width);

// The results of a generation or final in numbers.
struct GenerationSummary {
  int64_t generation = 0;
  bool is_final = false;
  double elapsed_s = 0;  // since the attempt began
  int64_t ok = 0;
  int64_t error = 0;
  int64_t timeout = 0;
  int64_t other = 0;             // filtered, deduplicated and so on
  std::vector<double> times_ms;  // of the configs with a time, in any order
};

// Returns the summary of one generation. `rows` are all rows of the attempt.
GenerationSummary Summarise(absl::Span<const recording::AttemptRow> rows, int64_t generation, double elapsed_s);

// Returns "[12s] Generation 1: ok=10 error=1 min=0.0196 mid=0.0301 max=0.0541". Omits counts of 0 except ok.
std::string SummaryText(const GenerationSummary& summary);

}  // namespace telemetry::worker::tune
