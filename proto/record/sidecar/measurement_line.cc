#include "proto/record/sidecar/measurement_line.h"

#include <string_view>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/identity.h"
#include "proto/record/ids.h"
#include "proto/record/numbers.h"
#include "proto/record/sidecar/config_text.h"
#include "proto/record/strings.h"
#include "proto/record/tuner_run.h"

namespace telemetry::record::sidecar {
namespace {

constexpr std::string_view kVersion = "1";

absl::Status Wrong(std::string_view key, std::string_view expected) {
  return absl::InvalidArgumentError(Cat(key, " is not ", expected));
}

// A reader of an object's keys that keeps the first error.
class Keys {
 public:
  explicit Keys(const Json& object) : object_(object) {}

  // Returns the text of a required key; empty after an error.
  std::string Text(std::string_view key) {
    const Json* value = object_.Find(key);
    if (value != nullptr && value->kind == Json::Kind::kString) return value->text;
    return Fail(key, "a string"), "";
  }

  std::optional<std::string> OptionalText(std::string_view key) {
    return Has(key) ? std::optional(Text(key)) : std::nullopt;
  }

  // Returns the 16 bytes of an attempt_id.
  std::string AttemptId() {
    const absl::StatusOr<std::string> id = HexDecode(Text("attempt_id"));
    if (id.ok() && id->size() == kAttemptIdBytes) return *id;
    return Fail("attempt_id", "32 hex digits"), "";
  }

  std::optional<double> Decimal(std::string_view key) {
    if (!Has(key)) return std::nullopt;
    const Json& value = *object_.Find(key);
    const std::optional<double> number =
        value.kind == Json::Kind::kNumber ? ParseDecimal(value.text) : std::optional<double>();
    if (!number.has_value()) Fail(key, "a finite number");
    return number;
  }

  std::optional<int64_t> Integer(std::string_view key) {
    if (!Has(key)) return std::nullopt;
    const Json& value = *object_.Find(key);
    const std::optional<int64_t> number =
        value.kind == Json::Kind::kNumber ? ParseInt64(value.text) : std::optional<int64_t>();
    if (!number.has_value()) Fail(key, "an integer of 64 bits");
    return number;
  }

  std::optional<uint64_t> Count(std::string_view key) {
    const std::optional<int64_t> number = Integer(key);
    if (!number.has_value()) return std::nullopt;
    if (*number < 0) Fail(key, "0 or more");
    return static_cast<uint64_t>(*number);
  }

  // Returns an object; an empty one if the key is missing or after an error.
  Json Object(std::string_view key) {
    if (!Has(key)) return Json::Object();
    const Json& value = *object_.Find(key);
    if (value.kind == Json::Kind::kObject) return value;
    return Fail(key, "an object"), Json::Object();
  }

  // Returns the items of an array; empty if the key is missing or after an error.
  std::vector<Json> Items(std::string_view key) {
    if (!Has(key)) return {};
    const Json& value = *object_.Find(key);
    if (value.kind == Json::Kind::kArray) return value.items;
    return Fail(key, "an array"), std::vector<Json>();
  }

  bool Has(std::string_view key) const {
    const Json* value = object_.Find(key);
    return value != nullptr && !value->is_null();
  }

  void Fail(std::string_view key, std::string_view expected) {
    if (status_.ok()) status_ = Wrong(key, expected);
  }

  const absl::Status& status() const { return status_; }

 private:
  const Json& object_;
  absl::Status status_;
};

v1::Run ReadRun(Keys& keys) {
  v1::Run run;
  const std::string tuner = keys.Text("tuner");
  if (tuner.empty()) keys.Fail("tuner", "the name of the tuner");
  run.set_kernel_name(keys.Text("kernel_name"));
  run.set_kernel_source(keys.Text("kernel_source"));
  run.set_input_shapes(keys.Text("input_shapes"));
  run.set_dtypes(keys.Text("dtypes"));
  run.set_hardware(keys.Text("hardware"));
  Json settings = keys.Object("settings");
  run.set_settings_json(ToJson(settings));
  Json extra = Json::Object();
  extra.members = {{std::string(kTunerKey), Json::String(tuner)}};
  run.set_extra_json(ToJson(extra));
  run.set_run_id(RunIdOfTuner({.tuner = tuner,
                               .kernel_name = run.kernel_name(),
                               .kernel_source = run.kernel_source(),
                               .settings = std::move(settings),
                               .input_shapes = run.input_shapes(),
                               .dtypes = run.dtypes(),
                               .hardware = run.hardware()}));
  return run;
}

absl::StatusOr<MeasurementsLine> ReadAttempt(const Json& line) {
  const Json* version = line.Find("version");
  if (version == nullptr || version->text != kVersion) {
    return absl::FailedPreconditionError(Cat("the version of the attempt is not ", kVersion));
  }
  Keys keys(line);
  AttemptLine read;
  read.run = ReadRun(keys);
  v1::Attempt& attempt = read.attempt;
  attempt.set_attempt_id(keys.AttemptId());
  attempt.set_run_id(read.run.run_id());
  attempt.set_state(v1::Attempt::STATE_OPEN);
  attempt.set_origin(keys.OptionalText("origin").value_or(""));
  if (const auto started = keys.Integer("started_unix_us")) attempt.set_started_unix_us(*started);
  if (auto algorithm = keys.OptionalText("search_algorithm")) attempt.set_search_algorithm(*std::move(algorithm));
  if (const auto seed = keys.Integer("seed")) attempt.set_seed(*seed);
  if (keys.Has("environment")) attempt.set_environment_json(ToJson(keys.Object("environment")));
  RETURN_IF_ERROR(keys.status());
  return read;
}

v1::Failure ReadFailure(const Json& object, Keys& line) {
  Keys keys(object);
  v1::Failure failure;
  failure.set_phase(keys.OptionalText("phase").value_or(""));
  failure.set_error_class(keys.OptionalText("error_class").value_or(""));
  failure.set_code(keys.OptionalText("code").value_or(""));
  failure.set_message(keys.OptionalText("message").value_or(""));
  if (!keys.status().ok()) line.Fail("failure", "an object of strings");
  return failure;
}

v1::MeasurementDetail::Stage ReadStage(Keys& keys) {
  const std::string stage = keys.OptionalText("stage").value_or("");
  if (stage == "screening") return v1::MeasurementDetail::STAGE_SCREENING;
  if (stage == "search") return v1::MeasurementDetail::STAGE_SEARCH;
  if (stage == "final") return v1::MeasurementDetail::STAGE_FINAL;
  if (stage == "rebenchmark") return v1::MeasurementDetail::STAGE_REBENCHMARK;
  if (!stage.empty()) keys.Fail("stage", "screening, search, final or rebenchmark");
  return v1::MeasurementDetail::STAGE_UNSPECIFIED;
}

// Returns the line's details without their identity.
v1::MeasurementDetail ReadDetail(Keys& keys) {
  v1::MeasurementDetail detail;
  detail.set_stage(ReadStage(keys));
  for (const Json& sample : keys.Items("samples_ms")) {
    const std::optional<double> ms = ParseDecimal(sample.text);
    if (sample.kind != Json::Kind::kNumber || !ms.has_value() || *ms < 0) {
      keys.Fail("samples_ms", "an array of finite numbers of 0 or more");
      break;
    }
    detail.add_samples_ms(*ms);
  }
  if (const auto value = keys.Count("throttled_samples")) detail.set_throttled_samples(*value);
  if (const auto value = keys.Count("registers")) detail.set_registers(*value);
  if (const auto value = keys.Count("spill_bytes")) detail.set_spill_bytes(*value);
  if (const auto value = keys.Count("shared_bytes")) detail.set_shared_bytes(*value);
  if (const auto value = keys.Decimal("occupancy")) detail.set_occupancy(*value);
  if (const auto value = keys.Count("binary_bytes")) detail.set_binary_bytes(*value);
  if (const auto value = keys.Decimal("worst_absolute_error")) detail.set_worst_absolute_error(*value);
  if (const auto value = keys.Decimal("worst_relative_error")) detail.set_worst_relative_error(*value);
  if (const auto value = keys.Decimal("sm_clock_mhz")) detail.set_sm_clock_mhz(*value);
  return detail;
}

absl::StatusOr<MeasurementsLine> ReadMeasurement(const Json& line) {
  Keys keys(line);
  MeasurementLine read;
  const Json* config = line.Find("config");
  if (config == nullptr || config->kind != Json::Kind::kObject) return Wrong("config", "an object");
  ASSIGN_OR_RETURN(read.config, ConfigOf(*config));
  v1::Measurement& row = read.measurement;
  row.set_attempt_id(keys.AttemptId());
  row.set_seq(keys.Count("seq").value_or(0));
  if (row.seq() == 0) keys.Fail("seq", "1 or more");
  row.set_timestamp_s(keys.Decimal("timestamp_s").value_or(0));
  row.set_generation(keys.Integer("generation").value_or(0));
  row.set_status(keys.Text("status"));
  if (row.status().empty()) keys.Fail("status", "the outcome of the measurement");
  row.set_config_id(read.config.config_id());
  if (const auto ms = keys.Decimal("perf_ms")) row.set_perf_ms(*ms);
  if (const auto seconds = keys.Decimal("compile_time_s")) row.set_compile_time_s(*seconds);
  if (keys.Has("failure")) *row.mutable_failure() = ReadFailure(keys.Object("failure"), keys);
  v1::MeasurementDetail detail = ReadDetail(keys);
  if (detail.ByteSizeLong() > 0) {
    detail.set_attempt_id(row.attempt_id());
    detail.set_seq(row.seq());
    read.detail = std::move(detail);
  }
  RETURN_IF_ERROR(keys.status());
  return read;
}

absl::StatusOr<MeasurementsLine> ReadEnd(const Json& line) {
  Keys keys(line);
  EndLine read{.attempt_id = keys.AttemptId()};
  const std::string state = keys.Text("state");
  if (state == "abandoned") {
    read.state = v1::Attempt::STATE_ABANDONED;
  } else if (state != "complete") {
    keys.Fail("state", "complete or abandoned");
  }
  if (keys.Has("counters")) read.counters_json = ToJson(keys.Object("counters"));
  RETURN_IF_ERROR(keys.status());
  return read;
}

absl::StatusOr<MeasurementsLine> ReadEvent(const Json& line) {
  Keys keys(line);
  EventLine read{.attempt_id = keys.AttemptId(),
                 .seq = keys.Count("seq").value_or(0),
                 .time_unix_us = keys.Integer("time_unix_us"),
                 .name = keys.Text("name"),
                 .text = ToJson(line)};
  keys.Object("values");
  if (read.seq == 0) keys.Fail("seq", "1 or more");
  if (read.name.empty()) keys.Fail("name", "the name of the event");
  RETURN_IF_ERROR(keys.status());
  return read;
}

absl::StatusOr<MeasurementsLine> ReadContinued(const Json& line) {
  Keys keys(line);
  ContinuedLine read{.attempt_id = keys.AttemptId()};
  RETURN_IF_ERROR(keys.status());
  return read;
}

}  // namespace

absl::StatusOr<v1::Config> ConfigOf(const Json& config) {
  ASSIGN_OR_RETURN(Json sorted, ParseJson(ToCanonicalJson(config)));
  v1::Config read;
  read.set_config_id(ConfigId(config));
  read.set_text(SortedConfigText(std::move(sorted)));
  return read;
}

absl::StatusOr<v1::MeasurementDetail> ParseDetail(const Json& object) {
  Keys keys(object);
  v1::MeasurementDetail detail = ReadDetail(keys);
  if (const auto value = keys.Decimal("exact_perf_ms")) detail.set_exact_perf_ms(*value);
  RETURN_IF_ERROR(keys.status());
  return detail;
}

absl::StatusOr<MeasurementsLine> ParseMeasurementsLine(const Json& line) {
  if (line.kind != Json::Kind::kObject) return absl::InvalidArgumentError("the line is not an object");
  Keys keys(line);
  const std::string kind = keys.Text("kind");
  RETURN_IF_ERROR(keys.status());
  if (kind == "attempt") return ReadAttempt(line);
  if (kind == "measurement") return ReadMeasurement(line);
  if (kind == "event") return ReadEvent(line);
  if (kind == "end") return ReadEnd(line);
  if (kind == "continued") return ReadContinued(line);
  return absl::FailedPreconditionError(Cat("the kind of the line is not known: ", kind));
}

}  // namespace telemetry::record::sidecar
