#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "server/storage/sql/statement.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage {

// The columns of measurement_details after attempt and seq, in the order that FillDetail() expects.
#define TELEMETRY_DETAIL_COLUMNS                                                                                 \
  "stage, tied_with_best, samples_ms_json, throttled_samples, registers, spill_bytes, shared_bytes, occupancy, " \
  "binary_bytes, worst_absolute_error, worst_relative_error, sm_clock_mhz"

// Returns a stage's name in the table.
std::string_view StageName(v1::MeasurementDetail::Stage stage);

// Returns the samples as a JSON array in which each number round-trips exactly; nullopt if there are no samples.
std::optional<std::string> SamplesToJson(const v1::MeasurementDetail& detail);

// Reads TELEMETRY_DETAIL_COLUMNS of the current row, which begin at `column`. Returns DATA_LOSS if the samples are not
// a JSON array of numbers.
absl::Status FillDetail(const Statement& row, int column, v1::MeasurementDetail* detail);

}  // namespace telemetry::storage
