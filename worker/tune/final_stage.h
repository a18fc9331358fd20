#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "worker/codegen/config.h"
#include "worker/tune/compile_queue.h"
#include "worker/tune/measure/measurer.h"
#include "worker/tune/recording/attempt_row.h"

namespace telemetry::worker::tune {

// The last stage of an attempt (STAGE_FINAL): measures the fastest configs of all generations and the default config
// against each other. Its ranking is computed from the attempt's rows, so it does not matter which process ran it.

// Returns the `count` fastest configs that were fully measured and gave correct results, fastest first. Adds the
// default config if it qualifies and is slower than those.
std::vector<codegen::Config> SelectFinalists(absl::Span<const recording::AttemptRow> rows, int count,
                                             const codegen::Config& default_config);

// Returns the rows of the finalists, in the order of `finalists`.
std::vector<recording::AttemptRow> MakeFinalRows(int64_t generation, absl::Span<const CompiledCandidate> finalists,
                                                 const measure::FinalOutcome& outcome);

// The outcome of a final.
struct FinalRanking {
  struct Best {
    codegen::Config config;
    double perf_ms = 0;
  };
  std::optional<Best> best;                 // unset: no config ran with correct results, or there was no final
  std::vector<codegen::Config> runners_up;  // all others that were in the final and ran, fastest first
  std::vector<codegen::Config> ties;        // other configs whose times do not differ from the best beyond the noise
  std::optional<double> default_perf_ms;    // measured in the same final; unset: the default config was not in it
};

// Returns the ranking of the final that is among the rows.
FinalRanking RankFinal(absl::Span<const recording::AttemptRow> rows, const codegen::Config& default_config);

}  // namespace telemetry::worker::tune
