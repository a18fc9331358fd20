#include "worker/tune/measure/final_ranking.h"

#include <utility>

#include "worker/tune/measure/sample_statistics.h"

namespace telemetry::worker::tune {
namespace {

int FastestOf(const std::vector<MeasureOutcome>& outcomes) {
  int best = -1;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].ok()) continue;
    if (best < 0 || *outcomes[i].perf_ms < *outcomes[static_cast<size_t>(best)].perf_ms) best = static_cast<int>(i);
  }
  return best;
}

bool IsTied(const MeasureOutcome& best, const MeasureOutcome& other, bool interleaved) {
  if (interleaved) return TiedWithBest(best.samples_ms, other.samples_ms);
  return TiedWithBest(absl::MakeConstSpan(&*best.perf_ms, 1), absl::MakeConstSpan(&*other.perf_ms, 1));
}

}  // namespace

FinalOutcome RankFinal(std::vector<MeasureOutcome> outcomes, bool interleaved) {
  FinalOutcome final = {.outcomes = std::move(outcomes)};
  final.best = FastestOf(final.outcomes);
  for (const MeasureOutcome& outcome : final.outcomes) {
    const bool tied = outcome.ok() && IsTied(final.outcomes[static_cast<size_t>(final.best)], outcome, interleaved);
    final.tied_with_best.push_back(tied);
  }
  return final;
}

}  // namespace telemetry::worker::tune
