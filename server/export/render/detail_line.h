#pragma once

#include <string>

#include "telemetry/v1/records.pb.h"

namespace telemetry::exporter::render {

// Returns the details of a row beyond its columns, and the reason of its failure, as one JSON object without a line
// end. Unknown values are null. `detail` may be null.
std::string FormatDetail(const v1::Attempt& attempt, const v1::Measurement& row, const v1::MeasurementDetail* detail);

}  // namespace telemetry::exporter::render
