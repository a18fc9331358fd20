#pragma once

#include <string>
#include <vector>

#include "telemetry/v1/records.pb.h"

namespace telemetry::exporter::render {

// Returns the description that represents a run: the first one from which the run_id is derived, else the first one
// that is not empty. `descriptions` has one element, or one for each distinct description by senders.
const v1::Run& ChooseDescription(const std::vector<v1::Run>& descriptions);

// Formats the descriptions of a run as one JSON object without a line end. Unknown values are null. The object's own
// values are those of ChooseDescription(). The object lists the others.
std::string FormatRun(const std::vector<v1::Run>& descriptions);

}  // namespace telemetry::exporter::render
