#pragma once

#include <string>
#include <vector>

#include "telemetry/v1/records.pb.h"

namespace telemetry::exporter::render {

// Formats the descriptions of a run as one JSON object without a line end. Unknown values are null. `descriptions` has
// one element, or one for each distinct description by senders. The object's own values are those of the first
// description from which the run_id is derived, else of the first one that is not empty. The object lists the others.
std::string FormatRun(const std::vector<v1::Run>& descriptions);

}  // namespace telemetry::exporter::render
