#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "worker/tune/record/attempt_recorder.h"

namespace telemetry::worker::tune {

// How far an attempt is.
struct TuneProgress {
  int64_t generation = 0;
  bool is_final = false;
  int64_t done = 0;      // of this generation's configs, or of the final's rounds
  int64_t proposed = 0;  // this generation's, or the final's
  std::optional<double> best_ms;
  // The pace so far, and the time that this generation or the final still takes. No value: nothing is done yet.
  std::optional<double> configs_per_s;  // of the final: none
  std::optional<double> left_s;
};

// "[=====>     ] gen 2  37/60  best 0.0196 ms  3.1 configs/s  7 s left", or "final" for the generation. `width`: of the
// bar, in characters.
std::string ProgressText(const TuneProgress& progress, int width);

// What a generation came to.
struct GenerationSummary {
  int64_t generation = 0;
  bool is_final = false;
  double elapsed_s = 0;  // since the attempt began
  int64_t ok = 0;
  int64_t error = 0;
  int64_t timeout = 0;
  int64_t other = 0;             // filtered, deduplicated...
  std::vector<double> times_ms;  // of those that are ok, in any order
};

// Of the attempt's rows, those of one generation.
GenerationSummary Summarise(absl::Span<const RecordedRow> rows, int64_t generation, double elapsed_s);

// "[12s] Generation 1: ok=10 error=1 min=0.0196 mid=0.0301 max=0.0541"; counts of 0 are left out but for ok's.
std::string SummaryText(const GenerationSummary& summary);

}  // namespace telemetry::worker::tune
