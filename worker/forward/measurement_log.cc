#include "worker/forward/measurement_log.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"

namespace telemetry::worker::forward {

absl::Status MeasurementLog::Add(const record::Json& line) {
  ASSIGN_OR_RETURN(const record::sidecar::MeasurementsLine read, record::sidecar::ParseMeasurementsLine(line));
  return Add(read);
}

absl::Status MeasurementLog::Add(const record::sidecar::MeasurementsLine& line) {
  return std::visit([this](const auto& kind) { return Take(kind); }, line);
}

absl::Status MeasurementLog::AbandonOpen() {
  for (auto& [attempt_id, attempt] : attempts_) {
    if (!attempt.open) continue;
    RETURN_IF_ERROR(Take(record::sidecar::EndLine{.attempt_id = attempt_id, .state = v1::Attempt::STATE_ABANDONED}));
  }
  return absl::OkStatus();
}

absl::StatusOr<MeasurementLog::Attempt*> MeasurementLog::Find(const std::string& attempt_id) {
  const auto found = attempts_.find(attempt_id);
  if (found != attempts_.end()) return &found->second;
  return absl::InvalidArgumentError(
      absl::StrCat("no line before this one describes the attempt ", record::HexEncode(attempt_id)));
}

absl::Status MeasurementLog::Take(const record::sidecar::AttemptLine& line) {
  attempts_.emplace(line.attempt.attempt_id(), Attempt{line.run.run_id(), line.attempt.origin()});
  v1::Record record;
  *record.mutable_run() = line.run;
  RETURN_IF_ERROR(sink_(record));
  *record.mutable_attempt() = line.attempt;
  return sink_(record);
}

absl::Status MeasurementLog::Take(const record::sidecar::MeasurementLine& line) {
  RETURN_IF_ERROR(Find(line.measurement.attempt_id()).status());
  RETURN_IF_ERROR(SendConfig(line.config));
  ++rows_;
  v1::Record record;
  *record.mutable_measurement() = line.measurement;
  RETURN_IF_ERROR(sink_(record));
  if (!line.detail.has_value()) return absl::OkStatus();
  *record.mutable_measurement_detail() = *line.detail;
  return sink_(record);
}

absl::Status MeasurementLog::Take(const record::sidecar::EventLine& line) {
  RETURN_IF_ERROR(Find(line.attempt_id).status());
  v1::Record record;
  v1::AttemptEvent& event = *record.mutable_attempt_event();
  event.set_attempt_id(line.attempt_id);
  event.set_seq(line.seq);
  if (line.time_unix_us.has_value()) event.set_time_unix_us(*line.time_unix_us);
  event.set_name(line.name);
  event.set_text(line.text);
  return sink_(record);
}

absl::Status MeasurementLog::Take(const record::sidecar::EndLine& line) {
  ASSIGN_OR_RETURN(Attempt* const attempt, Find(line.attempt_id));
  attempt->open = false;
  v1::Record record;
  v1::Attempt& out = *record.mutable_attempt();
  out.set_attempt_id(line.attempt_id);
  out.set_run_id(attempt->run_id);
  out.set_origin(attempt->origin);
  out.set_state(line.state);
  if (!line.counters_json.empty()) out.set_counters_json(line.counters_json);
  return sink_(record);
}

absl::Status MeasurementLog::Take(const record::sidecar::ContinuedLine& line) {
  ASSIGN_OR_RETURN(Attempt* const attempt, Find(line.attempt_id));
  attempt->open = false;
  return absl::OkStatus();
}

absl::Status MeasurementLog::SendConfig(const v1::Config& config) {
  if (!configs_.insert(config.config_id()).second) return absl::OkStatus();
  v1::Record record;
  *record.mutable_config() = config;
  return sink_(record);
}

}  // namespace telemetry::worker::forward
