#pragma once

#include <string>

#include "telemetry/v1/records.pb.h"

namespace telemetry::exporter {

// What is known of a row beyond its columns, and why its config failed, as one JSON object (no line end). What is not
// known is null. `detail` may be null.
std::string FormatDetail(const v1::Attempt& attempt, const v1::Measurement& row, const v1::MeasurementDetail* detail);

}  // namespace telemetry::exporter
