#pragma once

#include <cstdint>
#include <string>

#include "telemetry/v1/dataset.pb.h"

namespace telemetry::exporter::render {

// The number of an attempt's rows in an export.
struct AttemptRows {
  uint64_t rows = 0;
  uint64_t ok_rows = 0;
};

// Returns the attempt as one JSON object without a line end. Unknown values are null. The object omits properties that
// depend on the history of the dataset: when and in how many pieces the attempt arrived.
std::string FormatAttempt(const v1::AttemptSummary& summary, const AttemptRows& exported);

}  // namespace telemetry::exporter::render
