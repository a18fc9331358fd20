#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "server/storage/sql/statement.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage {

// The columns of measurement_details behind attempt and seq, in the order of FillDetail.
inline constexpr char kDetailColumns[] =
    "stage, tied_with_best, samples_ms_json, throttled_samples, registers, spill_bytes, shared_bytes, occupancy, "
    "binary_bytes, worst_absolute_error, worst_relative_error, sm_clock_mhz";

// A detail's stage as the table has it.
std::string_view StageName(v1::MeasurementDetail::Stage stage);

// Samples as a JSON array in which each number reads back as it was; empty optional: there are none.
std::optional<std::string> SamplesToJson(const v1::MeasurementDetail& detail);

// Reads kDetailColumns of the current row, the first of them being `column`. DATA_LOSS: the samples are no JSON array
// of numbers.
absl::Status FillDetail(const Statement& row, int column, v1::MeasurementDetail* detail);

}  // namespace telemetry::storage
