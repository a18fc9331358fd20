#pragma once

#include <vector>

#include "worker/tune/measure/measure_outcome.h"
#include "worker/tune/measure/measurer.h"

namespace telemetry::worker::tune {

// Who won, and who cannot be told from the winner. `interleaved`: the outcomes' samples were taken in turns; else two
// configs are tied when their medians are within half a percent.
FinalOutcome RankFinal(std::vector<MeasureOutcome> outcomes, bool interleaved);

}  // namespace telemetry::worker::tune
