#pragma once

#include <optional>
#include <string>
#include <vector>

#include "worker/compare/attempt_times.h"
#include "worker/compare/run_sides.h"

namespace telemetry::worker::compare {

// Returns the median clock of the multiprocessors over the attempts that know it, in megahertz; nullopt: none does.
std::optional<double> ClockOf(const std::vector<AttemptTimes>& attempts, TimeKind kind);

// Returns remarks on the measurements of a run: a side with a clock 2% below the other's, attempts with a clock 3%
// below the median of all attempts of the run, attempts with samples that were discarded because of a low clock, and
// attempts whose samples have an interquartile range above 5% of their median.
std::vector<std::string> RemarksOn(const RunSides& run);

// Returns a remark for each machine on which the attempts are slower than those of the same side of the same runs on
// other machines: by at least 2% at the median of at least three runs.
std::vector<std::string> RemarksOnHosts(const std::vector<RunSides>& runs);

}  // namespace telemetry::worker::compare
