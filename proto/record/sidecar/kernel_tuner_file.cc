#include "proto/record/sidecar/kernel_tuner_file.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/time/time.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "proto/record/numbers.h"
#include "proto/record/strings.h"

namespace telemetry::record::sidecar {
namespace {

using Kind = Json::Kind;

constexpr double kMsPerSecond = 1000;
// Kernel Tuner before 1.0 wrote this time for a config that failed.
constexpr double kFailedMs = 1e20;

std::optional<double> Number(const Json* value) {
  if (value == nullptr || value->kind != Kind::kNumber) return std::nullopt;
  return ParseDecimal(value->text);
}

std::string Text(const Json* value) { return value != nullptr && value->kind == Kind::kString ? value->text : ""; }

// Parses a text that may lack its end: what Kernel Tuner itself does before it continues a cache file.
absl::StatusOr<Json> ParseUnfinished(std::string_view text) {
  absl::StatusOr<Json> whole = ParseJson(text);
  if (whole.ok()) return whole;
  // The last line may be torn: each earlier line end is a place at which the file may have ended.
  for (int tries = 0; tries < 3 && !text.empty(); ++tries) {
    while (!text.empty() && (text.back() == ',' || text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    absl::StatusOr<Json> ended = ParseJson(Cat(text, "}\n}"));
    if (ended.ok()) return ended;
    const size_t line_end = text.rfind('\n');
    text = text.substr(0, line_end == std::string_view::npos ? 0 : line_end);
  }
  return whole;
}

// Returns the time of a row, such as "2026-11-25 15:45:02.289211+00:00".
std::optional<absl::Time> TimeOf(const Json& entry) {
  absl::Time time;
  std::string error;
  const std::string text = Text(entry.Find("timestamp"));
  if (text.empty()) return std::nullopt;
  for (const char* format : {"%Y-%m-%d %H:%M:%E*S%Ez", "%Y-%m-%d %H:%M:%E*S", "%Y-%m-%dT%H:%M:%E*S%Ez"}) {
    if (absl::ParseTime(format, text, &time, &error)) return time;
  }
  return std::nullopt;
}

// A writer of the rows of one file.
class Rows {
 public:
  explicit Rows(KernelTunerFile* file) : file_(*file) {}

  // Appends a row without its outcome.
  absl::StatusOr<MeasurementLine*> Add(const Json& config, const Json& entry) {
    ASSIGN_OR_RETURN(v1::Config parsed, ConfigOf(config));
    MeasurementLine& row = file_.rows.emplace_back();
    row.config = std::move(parsed);
    row.measurement.set_seq(file_.rows.size());
    row.measurement.set_config_id(row.config.config_id());
    if (const std::optional<absl::Time> time = TimeOf(entry)) {
      if (!file_.started_unix_us.has_value()) file_.started_unix_us = absl::ToUnixMicros(*time);
      row.measurement.set_timestamp_s(static_cast<double>(absl::ToUnixMicros(*time) - *file_.started_unix_us) / 1e6);
    }
    return &row;
  }

 private:
  KernelTunerFile& file_;
};

void SetOutcome(std::optional<double> perf_ms, std::string_view failure, MeasurementLine* row) {
  v1::Measurement& out = row->measurement;
  if (failure.empty() && perf_ms.has_value() && *perf_ms < kFailedMs) {
    out.set_status("ok");
    out.set_perf_ms(*perf_ms);
    return;
  }
  out.set_status(failure == "InvalidConfig" || failure == "constraints" ? "filtered" : "error");
  if (failure == "timeout") out.set_status("timeout");
  v1::Failure& reason = *out.mutable_failure();
  reason.set_message(std::string(failure.empty() ? "not measured" : failure));
  if (failure == "CompilationFailedConfig" || failure == "compile") reason.set_phase("compile");
  if (failure == "RuntimeFailedConfig" || failure == "runtime") reason.set_phase("run");
  if (failure == "correctness") reason.set_phase("check");
}

void SetSamples(const Json* samples, MeasurementLine* row) {
  if (samples == nullptr || samples->kind != Kind::kArray || samples->items.empty()) return;
  v1::MeasurementDetail detail = row->detail.value_or(v1::MeasurementDetail());
  detail.set_seq(row->measurement.seq());
  for (const Json& sample : samples->items) {
    const std::optional<double> ms = Number(&sample);
    if (ms.has_value() && *ms >= 0) detail.add_samples_ms(*ms);
  }
  if (detail.samples_ms_size() > 0) row->detail = std::move(detail);
}

// Reads the details that telemetry-export writes as measurements. Metrics of a user may have the same names and other
// types: such measurements are ignored.
void SetMeasurements(const Json& entry, MeasurementLine* row) {
  const Json* measurements = entry.Find("measurements");
  if (measurements == nullptr) return;
  Json details = Json::Object();
  for (const Json& measurement : measurements->items) {
    const std::string name = Text(measurement.Find("name"));
    const Json* value = measurement.Find("value");
    if (value == nullptr || name == "samples_ms" || name == "exact_perf_ms") continue;
    if (name == "error" && row->measurement.has_failure() && value->kind == Kind::kString) {
      row->measurement.mutable_failure()->set_message(value->text);
    }
    details.members.emplace_back(name, *value);
  }
  absl::StatusOr<v1::MeasurementDetail> detail = ParseDetail(details);
  if (!detail.ok() || detail->ByteSizeLong() == 0) return;
  detail->set_seq(row->measurement.seq());
  row->detail = *std::move(detail);
}

void SetCompileTime(std::optional<double> ms, MeasurementLine* row) {
  if (ms.has_value() && *ms > 0) row->measurement.set_compile_time_s(*ms / kMsPerSecond);
}

absl::Status ReadCacheEntry(const std::string& key, const Json& entry, const Json& parameters, Rows* rows) {
  Json config = Json::Object();
  for (const Json& parameter : parameters.items) {
    const Json* value = entry.Find(parameter.text);
    if (value != nullptr) config.members.emplace_back(parameter.text, *value);
  }
  if (config.members.empty()) return absl::InvalidArgumentError(Cat("the entry ", key, " has no parameters"));
  ASSIGN_OR_RETURN(MeasurementLine* const row, rows->Add(config, entry));
  const Json* time = entry.Find("time");
  const std::string error = Text(entry.Find("__error__"));  // from Kernel Tuner 1.4 on
  SetOutcome(Number(time), error.empty() ? Text(time) : error, row);
  SetSamples(entry.Find("times"), row);
  SetCompileTime(Number(entry.Find("compile_time")), row);
  return absl::OkStatus();
}

// Returns the settings that the members of a file name.
std::string SettingsOf(const Json& object) {
  Json settings = Json::Object();
  if (const Json* size = object.Find("problem_size")) settings.members.emplace_back("problem_size", *size);
  return ToJson(settings);
}

std::string EnvironmentOf(const Json& object) {
  const Json* space = object.Find("tune_params");
  if (space == nullptr) return "";
  Json environment = Json::Object();
  environment.members.emplace_back("space", *space);
  return ToJson(environment);
}

absl::StatusOr<KernelTunerFile> ReadCache(const Json& object) {
  KernelTunerFile file{.kind = KernelTunerFile::Kind::kCache,
                       .kernel_name = Text(object.Find("kernel_name")),
                       .hardware = Text(object.Find("device_name"))};
  const Json* parameters = object.Find("tune_params_keys");
  const Json* cache = object.Find("cache");
  if (file.kernel_name.empty() || parameters == nullptr || parameters->kind != Kind::kArray || cache == nullptr) {
    return absl::InvalidArgumentError("the file has no kernel_name, tune_params_keys or cache");
  }
  file.settings_json = SettingsOf(object);
  file.environment_json = EnvironmentOf(object);
  Rows rows(&file);
  for (const auto& [key, entry] : cache->members) {
    RETURN_IF_ERROR(ReadCacheEntry(key, entry, *parameters, &rows));
  }
  return file;
}

// Returns the value of the measurement of a name.
std::optional<double> MeasurementOf(const Json& entry, std::string_view name) {
  const Json* measurements = entry.Find("measurements");
  if (measurements == nullptr) return std::nullopt;
  for (const Json& measurement : measurements->items) {
    if (Text(measurement.Find("name")) == name) return Number(measurement.Find("value"));
  }
  return std::nullopt;
}

absl::Status ReadT4Result(const Json& entry, Rows* rows) {
  const Json* config = entry.Find("configuration");
  if (config == nullptr || config->kind != Kind::kObject) {
    return absl::InvalidArgumentError("a result has no configuration");
  }
  ASSIGN_OR_RETURN(MeasurementLine* const row, rows->Add(*config, entry));
  const std::string invalidity = Text(entry.Find("invalidity"));
  SetOutcome(MeasurementOf(entry, "time"), invalidity == "correct" ? "" : invalidity, row);
  SetMeasurements(entry, row);
  const Json* times = entry.Find("times");
  if (times == nullptr) return absl::OkStatus();
  SetSamples(times->Find("runtimes"), row);
  const std::optional<double> compilation = Number(times->Find("compilation"));
  SetCompileTime(compilation.has_value() ? compilation : Number(times->Find("compilation_time")), row);
  return absl::OkStatus();
}

absl::StatusOr<KernelTunerFile> ReadT4(const Json& object) {
  KernelTunerFile file{.kind = KernelTunerFile::Kind::kT4, .settings_json = "{}"};
  if (const Json* metadata = object.Find("metadata")) {
    file.kernel_name = Text(metadata->Find("kernel_name"));
    file.hardware = Text(metadata->Find("device_name"));
    file.settings_json = SettingsOf(*metadata);
    file.environment_json = EnvironmentOf(*metadata);
  }
  Rows rows(&file);
  for (const Json& entry : object.Find("results")->items) {
    RETURN_IF_ERROR(ReadT4Result(entry, &rows));
  }
  return file;
}

}  // namespace

bool LooksLikeKernelTunerFile(std::string_view beginning) {
  const auto has = [beginning](std::string_view key) { return beginning.find(key) != std::string_view::npos; };
  return (has("\"device_name\"") && has("\"tune_params_keys\"")) || (has("\"results\"") && has("\"configuration\""));
}

absl::StatusOr<KernelTunerFile> ParseKernelTunerFile(std::string_view text) {
  ASSIGN_OR_RETURN(const Json object, ParseUnfinished(text));
  const Json* results = object.Find("results");
  if (results != nullptr && results->kind == Kind::kArray) return ReadT4(object);
  return ReadCache(object);
}

}  // namespace telemetry::record::sidecar
