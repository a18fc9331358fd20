#pragma once

#include <vector>

#include "worker/tune/measure/measure.pb.h"

namespace telemetry::worker::tune::measure {

// The result of a final: outcomes in the order of the requests, and the winner.
struct FinalOutcome {
  std::vector<wire::Outcome> outcomes;
  // The index of the fastest config that is right; -1: none.
  int best = -1;
  // By request: the config is right and tied with the best (see TiedWithBest in sample_statistics.h). True for the best
  // itself.
  std::vector<bool> tied_with_best;
};

// Determines the fastest config and the configs that are tied with it. `interleaved` is true if the samples of the
// outcomes were taken in turns. Otherwise two configs are tied if their medians differ by at most half a percent.
FinalOutcome CompareOutcomes(std::vector<wire::Outcome> outcomes, bool interleaved);

}  // namespace telemetry::worker::tune::measure
