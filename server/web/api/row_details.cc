#include "server/web/api/row_details.h"

#include "proto/base/status_macros.h"
#include "server/web/rows/optional_column.h"

namespace telemetry::web::api {

using rows::OptionalDouble;
using rows::OptionalInt;

namespace {

constexpr size_t kMostParsedSamples = 10000;

}  // namespace

RowDetailReader::RowDetailReader(storage::sql::Database& dataset)
    : read_(dataset, {.text = "SELECT samples_ms_json, tied_with_best, throttled_samples, registers, spill_bytes, "
                              "shared_bytes, occupancy, binary_bytes, sm_clock_mhz, worst_absolute_error, "
                              "worst_relative_error FROM measurement_details",
                      .key = storage::sql::kInRun,
                      .where = "attempt = ?1 AND seq = ?2"}) {}

absl::StatusOr<RowDetails> RowDetailReader::Read(const storage::sql::AttemptKey& key, int64_t seq) {
  ASSIGN_OR_RETURN(const bool found, read_.Bind(storage::sql::InRun{key.run}, key.attempt, seq).Step());
  RowDetails details;
  if (!found) return details;
  if (!read_.IsNull(0)) details.samples_ms = statistics::ParseSamples(read_.Text(0), kMostParsedSamples);
  if (!read_.IsNull(1)) details.tied_with_best = read_.Int(1) != 0;
  details.throttled_samples = OptionalInt(read_, 2);
  details.registers = OptionalInt(read_, 3);
  details.spill_bytes = OptionalInt(read_, 4);
  details.shared_bytes = OptionalInt(read_, 5);
  details.occupancy = OptionalDouble(read_, 6);
  details.binary_bytes = OptionalInt(read_, 7);
  details.sm_clock_mhz = OptionalDouble(read_, 8);
  details.worst_absolute_error = OptionalDouble(read_, 9);
  details.worst_relative_error = OptionalDouble(read_, 10);
  read_.Reset();
  return details;
}

void WriteQuantiles(json::JsonWriter& out, std::string_view key, const std::optional<std::vector<double>>& values) {
  const auto quantiles = values.has_value() ? statistics::QuantilesOf(*values) : std::nullopt;
  if (!quantiles.has_value()) return out.Field(key, nullptr);
  out.BeginObject(key);
  out.Field("count", quantiles->count);
  out.Field("min", quantiles->min);
  out.Field("p25", quantiles->p25);
  out.Field("median", quantiles->median);
  out.Field("p75", quantiles->p75);
  out.Field("max", quantiles->max);
  out.EndObject();
}

}  // namespace telemetry::web::api
