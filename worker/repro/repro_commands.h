#pragma once

#include <string>

#include "worker/tune/tune_session.h"

namespace telemetry::worker::repro {

// Returns the commands that write programs which repeat the configs that failed in a run (TuneResult::failed_runs), at
// most three, as lines for the end of the summary of an attempt. `collector` is the address of the collector that has
// the measurements; `spec` is the path of the specification that was tuned, or empty for a kernel of the library.
// Returns an empty text if no config failed in a run, or if there is no collector.
std::string ReproCommands(const tune::TaskResult& result, const std::string& collector, const std::string& spec);

}  // namespace telemetry::worker::repro
