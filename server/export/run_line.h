#pragma once

#include <string>
#include <vector>

#include "telemetry/v1/records.pb.h"

namespace telemetry::exporter {

// Formats what is known of a run as one JSON object (no line end). Unknown values are null. `descriptions`: one, or
// one for each way in which senders describe the run. The first one from which the run_id is derived counts, else the
// first that says anything; the others are listed in it.
std::string FormatRun(const std::vector<v1::Run>& descriptions);

}  // namespace telemetry::exporter
