#include "server/storage/sql/detail_columns.h"

#include "proto/record/json.h"
#include "proto/record/numbers.h"

namespace telemetry::storage {
namespace {

// Indexed by v1::MeasurementDetail::Stage.
constexpr std::string_view kStages[] = {"unspecified", "screening", "search", "final"};

v1::MeasurementDetail::Stage ParseStage(std::string_view name) {
  for (int stage = v1::MeasurementDetail::STAGE_SCREENING; stage <= v1::MeasurementDetail::STAGE_FINAL; ++stage) {
    if (kStages[stage] == name) return static_cast<v1::MeasurementDetail::Stage>(stage);
  }
  return v1::MeasurementDetail::STAGE_UNSPECIFIED;
}

absl::Status FillSamples(std::string_view text, v1::MeasurementDetail* detail) {
  const absl::StatusOr<record::Json> samples = record::ParseJson(text);
  if (!samples.ok()) return absl::DataLossError("samples_ms_json is not JSON: check the database");
  for (const record::Json& sample : samples->items) {
    const std::optional<double> ms = record::ParseDecimal(sample.text);
    if (!ms.has_value()) return absl::DataLossError("samples_ms_json is not an array of numbers: check the database");
    detail->add_samples_ms(*ms);
  }
  return absl::OkStatus();
}

}  // namespace

std::string_view StageName(v1::MeasurementDetail::Stage stage) { return kStages[stage]; }

std::optional<std::string> SamplesToJson(const v1::MeasurementDetail& detail) {
  if (detail.samples_ms().empty()) return std::nullopt;
  std::string json;
  for (const double ms : detail.samples_ms()) json.append(json.empty() ? "[" : ", ").append(record::FloatRepr(ms));
  return json + "]";
}

absl::Status FillDetail(const Statement& row, int column, v1::MeasurementDetail* detail) {
  const auto fill = [&row](int at, auto read, auto set) {
    if (!row.IsNull(at)) set((row.*read)(at));
  };
  const auto count = [&](int offset, auto set) {
    fill(column + offset, &Statement::Int, [&](int64_t value) { (detail->*set)(static_cast<uint64_t>(value)); });
  };
  const auto number = [&](int offset, auto set) {
    fill(column + offset, &Statement::Double, [&](double value) { (detail->*set)(value); });
  };
  using Detail = v1::MeasurementDetail;
  detail->set_stage(ParseStage(row.Text(column)));
  fill(column + 1, &Statement::Int, [&](int64_t value) { detail->set_tied_with_best(value != 0); });
  count(3, &Detail::set_throttled_samples);
  count(4, &Detail::set_registers);
  count(5, &Detail::set_spill_bytes);
  count(6, &Detail::set_shared_bytes);
  number(7, &Detail::set_occupancy);
  count(8, &Detail::set_binary_bytes);
  number(9, &Detail::set_worst_absolute_error);
  number(10, &Detail::set_worst_relative_error);
  number(11, &Detail::set_sm_clock_mhz);
  return row.IsNull(column + 2) ? absl::OkStatus() : FillSamples(row.Text(column + 2), detail);
}

}  // namespace telemetry::storage
