#include "server/storage/sql/detail_columns.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/record/json.h"
#include "proto/record/numbers.h"

namespace telemetry::storage::sql {
namespace {

// Indexed by v1::MeasurementDetail::Stage.
constexpr std::string_view kStages[] = {"unspecified", "screening", "search", "final", "rebenchmark"};

}  // namespace

std::string_view DetailStage::ToColumn(const v1::MeasurementDetail& detail) const { return kStages[detail.stage()]; }

absl::Status DetailStage::FromColumn(const Statement& row, int column, v1::MeasurementDetail* detail) const {
  for (int stage = v1::MeasurementDetail::STAGE_SCREENING; stage < v1::MeasurementDetail::Stage_ARRAYSIZE; ++stage) {
    if (kStages[stage] == row.Text(column)) detail->set_stage(static_cast<v1::MeasurementDetail::Stage>(stage));
  }
  return absl::OkStatus();
}

std::optional<std::string> DetailSamples::ToColumn(const v1::MeasurementDetail& detail) const {
  if (detail.samples_ms().empty()) return std::nullopt;
  std::string json;
  for (const double ms : detail.samples_ms()) json.append(json.empty() ? "[" : ", ").append(record::FloatRepr(ms));
  return json + "]";
}

absl::Status DetailSamples::FromColumn(const Statement& row, int column, v1::MeasurementDetail* detail) const {
  if (row.IsNull(column)) return absl::OkStatus();
  const absl::StatusOr<record::Json> samples = record::ParseJson(row.Text(column));
  if (!samples.ok()) return absl::DataLossError("samples_ms_json is not JSON: check the database");
  for (const record::Json& sample : samples->items) {
    const std::optional<double> ms = record::ParseDecimal(sample.text);
    if (!ms.has_value()) return absl::DataLossError("samples_ms_json is not an array of numbers: check the database");
    detail->add_samples_ms(*ms);
  }
  return absl::OkStatus();
}

std::string DetailColumnNames() {
  return std::apply([](const auto&... column) { return absl::StrJoin({std::string(column.name)...}, ", "); },
                    kDetailColumns);
}

absl::Status FillDetail(const Statement& row, int column, v1::MeasurementDetail* detail) {
  absl::Status status;
  const auto fill = [&](const auto& each) { status.Update(each.FromColumn(row, column++, detail)); };
  std::apply([&](const auto&... each) { (fill(each), ...); }, kDetailColumns);
  return status;
}

}  // namespace telemetry::storage::sql
