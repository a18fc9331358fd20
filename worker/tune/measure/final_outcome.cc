#include "worker/tune/measure/final_outcome.h"

#include <utility>

#include "absl/types/span.h"
#include "worker/tune/measure/sample_statistics.h"

namespace telemetry::worker::tune::measure {
namespace {

int Fastest(const std::vector<wire::Outcome>& outcomes) {
  int best = -1;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].has_perf_ms()) continue;
    if (best < 0 || outcomes[i].perf_ms() < outcomes[static_cast<size_t>(best)].perf_ms()) best = static_cast<int>(i);
  }
  return best;
}

bool IsTied(const wire::Outcome& best, const wire::Outcome& other, bool interleaved) {
  if (interleaved) return TiedWithBest(best.samples_ms(), other.samples_ms());
  return TiedWithBest({best.perf_ms()}, {other.perf_ms()});
}

}  // namespace

FinalOutcome CompareOutcomes(std::vector<wire::Outcome> outcomes, bool interleaved) {
  FinalOutcome compared = {.outcomes = std::move(outcomes)};
  compared.best = Fastest(compared.outcomes);
  for (const wire::Outcome& outcome : compared.outcomes) {
    const bool tied =
        outcome.has_perf_ms() && IsTied(compared.outcomes[static_cast<size_t>(compared.best)], outcome, interleaved);
    compared.tied_with_best.push_back(tied);
  }
  return compared;
}

}  // namespace telemetry::worker::tune::measure
