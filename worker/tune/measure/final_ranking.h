#pragma once

#include <vector>

#include "worker/tune/measure/measure_outcome.h"
#include "worker/tune/measure/measurer.h"

namespace telemetry::worker::tune {

// Determines the winner and the configs that are tied with it. `interleaved` is true if the samples of the outcomes
// were taken in turns. Otherwise two configs are tied if their medians differ by at most half a percent.
FinalOutcome RankFinal(std::vector<MeasureOutcome> outcomes, bool interleaved);

}  // namespace telemetry::worker::tune
