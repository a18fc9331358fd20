#pragma once

#include <cstdint>
#include <string>

#include "telemetry/v1/dataset.pb.h"

namespace telemetry::exporter {

// How many of an attempt's rows an export holds.
struct AttemptRows {
  uint64_t rows = 0;
  uint64_t ok_rows = 0;
};

// All that is known of an attempt, as one JSON object (no line end), except for what depends on the way that the
// dataset came together: when and in how many pieces it arrived. What is not known is null.
std::string FormatAttempt(const v1::AttemptSummary& summary, const AttemptRows& exported);

}  // namespace telemetry::exporter
