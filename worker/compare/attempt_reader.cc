#include "worker/compare/attempt_reader.h"

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "proto/record/ids.h"
#include "proto/statistics/samples.h"

namespace telemetry::worker::compare {
namespace {

using record::Json;
using Detail = v1::MeasurementDetail;

// Returns true for a row whose config has not been tried, or has not ended yet.
bool HasNoResult(const std::string& status) {
  return status == "started" || status == "filtered" || status == "deduplicated";
}

Json ParseObject(const std::string& text) {
  absl::StatusOr<Json> json = record::ParseJson(text);
  return json.ok() ? *std::move(json) : Json::Null();
}

std::string TextOf(const Json& object, std::string_view key) {
  const Json* const value = object.Find(key);
  return value != nullptr && value->kind == Json::Kind::kString ? value->text : "";
}

// Returns 0 for another text.
uint64_t ConfigIdOf(const std::string& digits) {
  const absl::StatusOr<uint64_t> id = record::ParseConfigId(digits);
  return id.ok() ? *id : 0;
}

// Returns the detail of a row. `next` is the position of the details that no earlier row has; both are ordered by seq.
const Detail* DetailOf(const v1::ExportRows& rows, uint64_t seq, int* next) {
  while (*next < rows.details_size() && rows.details(*next).seq() < seq) ++*next;
  return *next < rows.details_size() && rows.details(*next).seq() == seq ? &rows.details(*next) : nullptr;
}

MeasuredTime TimeOf(const v1::Measurement& row, const Detail* detail) {
  MeasuredTime time = {.config_id = row.config_id()};
  std::vector<double> samples;
  if (detail != nullptr) {
    samples.assign(detail->samples_ms().begin(), detail->samples_ms().end());
    if (detail->has_sm_clock_mhz()) time.sm_clock_mhz = detail->sm_clock_mhz();
    time.throttled_samples = detail->throttled_samples();
  }
  time.spread = statistics::RelativeSpread(samples);
  const bool is_rounded = detail != nullptr && detail->exact_perf_ms() > 0;
  time.median = statistics::MedianOfLogs(samples).value_or(statistics::LogMedian{
      .log = std::log(is_rounded ? detail->exact_perf_ms() : row.perf_ms()), .variance = std::nullopt, .count = 1});
  return time;
}

}  // namespace

AttemptReader::AttemptReader(const v1::Attempt& attempt)
    : host_(TextOf(ParseObject(attempt.environment_json()), "host")),
      is_complete_(attempt.state() != v1::Attempt::STATE_OPEN && attempt.state() != v1::Attempt::STATE_ABANDONED),
      chosen_config_(ConfigIdOf(TextOf(ParseObject(attempt.counters_json()), "best_config_id"))) {}

void AttemptReader::Add(const v1::ExportRows& rows) {
  int next_detail = 0;
  for (const v1::Measurement& measured : rows.measurements()) {
    const Detail* const detail = DetailOf(rows, measured.seq(), &next_detail);
    if (HasNoResult(measured.status())) continue;
    if (first_config_ == 0) first_config_ = measured.config_id();
    if (measured.status() != "ok" || !(measured.perf_ms() > 0)) continue;
    const Detail::Stage stage = detail == nullptr ? Detail::STAGE_UNSPECIFIED : detail->stage();
    if (stage == Detail::STAGE_SCREENING) continue;
    Row row = {.is_final = stage == Detail::STAGE_FINAL, .perf_ms = measured.perf_ms(), .time = {}};
    const auto known = configs_.find(measured.config_id());
    if (known != configs_.end() && !row.IsBetterThan(known->second)) continue;
    row.time = TimeOf(measured, detail);
    configs_[measured.config_id()] = row;
  }
}

void AttemptReader::Add(const v1::ExportEvents& events) {
  for (const v1::AttemptEvent& event : events.events()) {
    if (event.name() != "selected") continue;
    const uint64_t id = ConfigIdOf(TextOf(ParseObject(event.text()), "config_id"));
    if (id != 0) chosen_config_ = id;
  }
}

const AttemptReader::Row* AttemptReader::Best() const {
  const Row* best = nullptr;
  for (const auto& [id, row] : configs_) {
    if (best == nullptr || row.IsBetterThan(*best)) best = &row;
  }
  return best;
}

AttemptTimes AttemptReader::Finish() const {
  AttemptTimes times;
  times.host = host_;
  const auto set = [&](TimeKind kind, uint64_t config) {
    const auto row = configs_.find(config);
    if (row != configs_.end()) times.Of(kind) = row->second.time;
  };
  set(TimeKind::kDefault, first_config_);
  const Row* const best = Best();
  if (!is_complete_ || best == nullptr) return times;
  times.Of(TimeKind::kBest) = best->time;
  set(TimeKind::kChosen, chosen_config_ == 0 && best->is_final ? best->time.config_id : chosen_config_);
  return times;
}

}  // namespace telemetry::worker::compare
