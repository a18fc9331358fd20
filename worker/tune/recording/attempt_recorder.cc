#include "worker/tune/recording/attempt_recorder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/random/random.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/sidecar/config_text.h"
#include "proto/record/sidecar/row.h"
#include "proto/record/strings.h"

namespace telemetry::worker::tune::recording {
namespace {

// Readers of sidecars do not accept a shorter hash.
constexpr size_t kFewestHashDigits = 8;

bool IsSourceHash(std::string_view hash) {
  return hash.size() >= kFewestHashDigits && hash.size() % 2 == 0 &&
         hash.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::optional<double> Finite(std::optional<double> value) {
  return value.has_value() && std::isfinite(*value) ? value : std::nullopt;
}

v1::MeasurementDetail FiniteDetail(v1::MeasurementDetail detail) {
  auto& samples = *detail.mutable_samples_ms();
  samples.erase(std::remove_if(samples.begin(), samples.end(), [](double ms) { return !std::isfinite(ms); }),
                samples.end());
  if (!std::isfinite(detail.occupancy())) detail.clear_occupancy();
  if (!std::isfinite(detail.worst_absolute_error())) detail.clear_worst_absolute_error();
  if (!std::isfinite(detail.worst_relative_error())) detail.clear_worst_relative_error();
  if (!std::isfinite(detail.sm_clock_mhz())) detail.clear_sm_clock_mhz();
  return detail;
}

v1::Measurement ToMeasurement(const AttemptRow& row) {
  v1::Measurement out;
  out.set_timestamp_s(row.timestamp_s);
  out.set_generation(row.generation);
  out.set_status(row.status);
  if (const std::optional<double> perf_ms = Finite(row.perf_ms)) out.set_perf_ms(*perf_ms);
  if (const std::optional<double> seconds = Finite(row.compile_time_s)) out.set_compile_time_s(*seconds);
  out.set_config_id(row.config.id());
  if (row.failure.has_value()) *out.mutable_failure() = *row.failure;
  return out;
}

record::sidecar::Row ToSidecarRow(const AttemptRow& row, const std::string& run_id) {
  return {.run_id = run_id,
          .timestamp_s = row.timestamp_s,
          .config_id = row.config.id(),
          .generation = row.generation,
          .status = row.status,
          .perf_ms = Finite(row.perf_ms),
          .compile_time_s = Finite(row.compile_time_s),
          .config_text = row.config.ToString(),
          .source_hash = row.source_hash};
}

}  // namespace

std::string NewAttemptId() {
  absl::BitGen random;
  std::string id(record::kAttemptIdBytes, '\0');
  for (char& byte : id) byte = static_cast<char>(absl::Uniform<uint8_t>(random));
  return id;
}

absl::StatusOr<std::unique_ptr<AttemptRecorder>> AttemptRecorder::Create(AttemptInfo info, AttemptSinks sinks) {
  if (sinks.producer == nullptr && sinks.log == nullptr) {
    return absl::InvalidArgumentError("the attempt has no sink: pass a producer or a log");
  }
  if (info.attempt_id.size() != record::kAttemptIdBytes)
    return absl::InvalidArgumentError("an attempt_id has 16 bytes");
  if (!record::IsHexId(info.run.run_id())) {
    return absl::InvalidArgumentError("the run has no run_id: make it with DescribeRun");
  }
  if (info.environment.kind != record::Json::Kind::kObject) {
    return absl::InvalidArgumentError("the environment is not a JSON object");
  }
  for (const auto& [graph, kind] : {std::pair(&info.ir_graph, "device"), std::pair(&info.wrapper_graph, "wrapper")}) {
    if (!graph->has_value()) continue;
    (*graph)->set_run_id(info.run.run_id());
    (*graph)->set_kind(kind);
  }
  return std::unique_ptr<AttemptRecorder>(new AttemptRecorder(std::move(info), sinks));
}

v1::Record AttemptRecorder::AttemptRecord(v1::Attempt::State state) const {
  v1::Record record;
  v1::Attempt& attempt = *record.mutable_attempt();
  attempt.set_attempt_id(info_.attempt_id);
  attempt.set_run_id(info_.run.run_id());
  attempt.set_origin(info_.origin);
  attempt.set_state(state);
  attempt.set_started_unix_us(absl::ToUnixMicros(info_.started));
  if (!info_.search_algorithm.empty()) attempt.set_search_algorithm(info_.search_algorithm);
  attempt.set_seed(info_.seed);
  attempt.set_environment_json(record::ToJson(info_.environment));
  return record;
}

absl::Status AttemptRecorder::Begin() {
  if (sinks_.producer == nullptr) return absl::OkStatus();
  std::vector<v1::Record> records(1);
  *records.front().mutable_run() = info_.run;
  for (const std::optional<v1::IrGraph>* graph : {&info_.ir_graph, &info_.wrapper_graph}) {
    if (graph->has_value()) *records.emplace_back().mutable_ir_graph() = **graph;
  }
  records.push_back(AttemptRecord(v1::Attempt::STATE_OPEN));
  return sinks_.producer->AppendBatch(records);
}

absl::Status AttemptRecorder::Rows(absl::Span<const AttemptRow> rows) { return Record(rows, Log::kAlways); }

absl::Status AttemptRecorder::Replay(const AttemptRow& row) { return Record({&row, 1}, Log::kMissing); }

absl::Status AttemptRecorder::Check(absl::Span<const AttemptRow> rows) const {
  uint64_t seq = next_seq_;
  double last_s = last_timestamp_s_;
  for (const AttemptRow& row : rows) {
    const auto wrong = [seq](std::string_view what) {
      return absl::InvalidArgumentError(record::Cat("row ", seq, " of the attempt: ", what));
    };
    if (!std::isfinite(row.timestamp_s)) return wrong("timestamp_s is not finite");
    if (row.timestamp_s < last_s) {
      return wrong(record::Cat("timestamp_s ", row.timestamp_s, " is before the last row's, ", last_s));
    }
    if (row.status.empty()) return wrong("status is empty");
    if (!row.source_hash.empty() && !IsSourceHash(row.source_hash)) {
      return wrong(record::Cat("source_hash \"", row.source_hash, "\" is not a digest in lower-case hex"));
    }
    last_s = row.timestamp_s;
    ++seq;
  }
  return absl::OkStatus();
}

absl::Status AttemptRecorder::Record(absl::Span<const AttemptRow> rows, Log log) {
  RETURN_IF_ERROR(Check(rows));
  std::vector<const codegen::Config*> new_configs;
  absl::flat_hash_set<uint64_t> new_ids;
  std::vector<v1::Record> records;
  for (size_t i = 0; i < rows.size(); ++i) {
    const codegen::Config& config = rows[i].config;
    if (!announced_.contains(config.id()) && new_ids.insert(config.id()).second) {
      new_configs.push_back(&config);
      AddConfig(config, &records);
    }
    AddRow(rows[i], next_seq_ + i, &records);
  }
  if (sinks_.producer != nullptr) {
    RETURN_IF_ERROR(sinks_.producer->AppendBatch(records));
  }
  for (const AttemptRow& row : rows) {
    RETURN_IF_ERROR(AppendToLog(row, log));
  }
  for (const codegen::Config* config : new_configs) {
    announced_.insert(config->id());
    configs_.push_back({.config_id = config->id(), .config = config->json()});
  }
  if (!rows.empty()) last_timestamp_s_ = rows.back().timestamp_s;
  next_seq_ += rows.size();
  return absl::OkStatus();
}

absl::Status AttemptRecorder::AppendToLog(const AttemptRow& row, Log log) {
  if (sinks_.log == nullptr) return absl::OkStatus();
  const record::sidecar::Row sidecar_row = ToSidecarRow(row, info_.run.run_id());
  return log == Log::kMissing ? sinks_.log->AppendMissing(sidecar_row) : sinks_.log->Append(sidecar_row);
}

void AttemptRecorder::AddConfig(const codegen::Config& config, std::vector<v1::Record>* records) const {
  v1::Config& message = *records->emplace_back().mutable_config();
  message.set_config_id(config.id());
  message.set_text(config.ToString());
  v1::RunConfig& run_config = *records->emplace_back().mutable_run_config();
  run_config.set_run_id(info_.run.run_id());
  run_config.set_config_id(config.id());
  run_config.set_record_keys_json(record::sidecar::ConfigKeysJson(config.json()));
}

void AttemptRecorder::AddRow(const AttemptRow& row, uint64_t seq, std::vector<v1::Record>* records) const {
  const auto identify = [&](auto* message) {
    message->set_attempt_id(info_.attempt_id);
    message->set_seq(seq);
  };
  v1::Measurement& measurement = *records->emplace_back().mutable_measurement();
  measurement = ToMeasurement(row);
  identify(&measurement);
  if (!row.source_hash.empty()) {
    v1::SourceHash& hash = *records->emplace_back().mutable_source_hash();
    hash.set_source_hash(row.source_hash);
    identify(&hash);
  }
  if (row.detail.has_value()) {
    v1::MeasurementDetail& detail = *records->emplace_back().mutable_measurement_detail();
    detail = FiniteDetail(*row.detail);
    identify(&detail);
  }
}

absl::Status AttemptRecorder::End(v1::Attempt::State state, const record::Json& counters) {
  if (sinks_.log != nullptr) {
    const v1::IrGraph* graph = info_.ir_graph.has_value() ? &*info_.ir_graph : nullptr;
    absl::Status status = sinks_.log->AppendRecord(info_.run, graph, configs_);
    if (status.ok() && info_.wrapper_graph.has_value()) {
      status = sinks_.log->AppendWrapperGraph(info_.run, *info_.wrapper_graph);
    }
    if (!status.ok()) return status;
  }
  if (sinks_.producer == nullptr) return absl::OkStatus();
  v1::Record record = AttemptRecord(state);
  record.mutable_attempt()->set_counters_json(record::ToJson(counters));
  RETURN_IF_ERROR(sinks_.producer->Append(record));
  return sinks_.producer->Flush();
}

}  // namespace telemetry::worker::tune::recording
