#include "server/export/render/detail_line.h"

#include <cstdint>

#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "proto/record/numbers.h"
#include "server/export/render/json_values.h"

namespace telemetry::exporter::render {
namespace {

using record::Json;

// Returns the number with as many digits as are needed to parse the same value again.
Json NumberJson(double value) { return Json::Number(record::FloatRepr(value)); }

Json CountOrNull(bool has, uint64_t count) { return has ? CountJson(count) : Json::Null(); }

Json NumberOrNull(bool has, double value) { return has ? NumberJson(value) : Json::Null(); }

Json StageJson(v1::MeasurementDetail::Stage stage) {
  switch (stage) {
    case v1::MeasurementDetail::STAGE_SCREENING:
      return Json::String("screening");
    case v1::MeasurementDetail::STAGE_SEARCH:
      return Json::String("search");
    case v1::MeasurementDetail::STAGE_FINAL:
      return Json::String("final");
    case v1::MeasurementDetail::STAGE_REBENCHMARK:
      return Json::String("rebenchmark");
    default:
      return Json::Null();
  }
}

Json SamplesJson(const v1::MeasurementDetail& detail) {
  if (detail.samples_ms().empty()) return Json::Null();
  Json samples = Json::Array();
  samples.items.reserve(static_cast<size_t>(detail.samples_ms().size()));
  for (const double ms : detail.samples_ms()) samples.items.push_back(NumberJson(ms));
  return samples;
}

Json FailureJson(const v1::Failure& failure) {
  Json json = Json::Object();
  Put(&json, "phase", TextOrNull(failure.phase()));
  Put(&json, "error_class", TextOrNull(failure.error_class()));
  Put(&json, "code", TextOrNull(failure.code()));
  Put(&json, "message", TextOrNull(failure.message()));
  Put(&json, "log_sha256", TextOrNull(record::HexEncode(failure.log_sha256())));
  return json;
}

void PutDetail(const v1::MeasurementDetail& detail, Json* json) {
  Put(json, "stage", StageJson(detail.stage()));
  Put(json, "tied_with_best", detail.has_tied_with_best() ? Json::Bool(detail.tied_with_best()) : Json::Null());
  Put(json, "samples_ms", SamplesJson(detail));
  Put(json, "throttled_samples", CountOrNull(detail.has_throttled_samples(), detail.throttled_samples()));
  Put(json, "registers", CountOrNull(detail.has_registers(), detail.registers()));
  Put(json, "spill_bytes", CountOrNull(detail.has_spill_bytes(), detail.spill_bytes()));
  Put(json, "shared_bytes", CountOrNull(detail.has_shared_bytes(), detail.shared_bytes()));
  Put(json, "occupancy", NumberOrNull(detail.has_occupancy(), detail.occupancy()));
  Put(json, "binary_bytes", CountOrNull(detail.has_binary_bytes(), detail.binary_bytes()));
  Put(json, "worst_absolute_error", NumberOrNull(detail.has_worst_absolute_error(), detail.worst_absolute_error()));
  Put(json, "worst_relative_error", NumberOrNull(detail.has_worst_relative_error(), detail.worst_relative_error()));
  Put(json, "sm_clock_mhz", NumberOrNull(detail.has_sm_clock_mhz(), detail.sm_clock_mhz()));
}

}  // namespace

std::string FormatDetail(const v1::Attempt& attempt, const v1::Measurement& row, const v1::MeasurementDetail* detail) {
  Json json = Json::Object();
  Put(&json, "run_id", Json::String(attempt.run_id()));
  Put(&json, "attempt_id", Json::String(record::HexEncode(attempt.attempt_id())));
  Put(&json, "seq", Json::Integer(static_cast<int64_t>(row.seq())));
  Put(&json, "config_id", Json::String(record::FormatConfigId(row.config_id())));
  Put(&json, "status", Json::String(row.status()));
  PutDetail(detail != nullptr ? *detail : v1::MeasurementDetail::default_instance(), &json);
  Put(&json, "failure", row.has_failure() ? FailureJson(row.failure()) : Json::Null());
  // Earlier versions did not have these keys, and the lines of rows without the values stay as they were.
  if (detail != nullptr && detail->has_time_unix_us()) Put(&json, "time", TimeJson(detail->time_unix_us()));
  if (detail != nullptr && detail->has_exact_perf_ms())
    Put(&json, "exact_perf_ms", NumberJson(detail->exact_perf_ms()));
  return record::ToJson(json);
}

}  // namespace telemetry::exporter::render
