#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "worker/codegen/config.h"
#include "worker/tune/compile_queue.h"
#include "worker/tune/measure/measurer.h"
#include "worker/tune/record/attempt_recorder.h"
#include "worker/tune/trial_log.h"

namespace telemetry::worker::tune {

// The final: the fastest of all generations against each other and the default config. What came of it is read from
// the rows of the attempt, so that it does not matter which process held it.

// The configs that were measured in full and were right, the fastest first, at most `count`; the default config is
// among them where it ran.
std::vector<codegen::Config> FinalistsOf(absl::Span<const RecordedRow> rows, int count,
                                         const codegen::Config& default_config);

// Results of those configs, in their order.
std::vector<TrialResult> ResultsOf(int64_t generation, absl::Span<const CompiledCandidate> finalists,
                                   const FinalOutcome& outcome);

struct FinalRanking {
  struct Best {
    codegen::Config config;
    double perf_ms = 0;
  };
  std::optional<Best> best;               // none was right
  std::vector<codegen::Config> ties;      // others that could not be told from the best
  std::optional<double> default_perf_ms;  // measured in turn with the best
};

FinalRanking RankingOf(absl::Span<const RecordedRow> rows, const codegen::Config& default_config);

}  // namespace telemetry::worker::tune
