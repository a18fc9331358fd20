#include "server/storage/validate.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "server/storage/nul_check.h"

namespace telemetry::storage {
namespace {

constexpr size_t kSha256Bytes = 32;
constexpr uint64_t kMaxInteger = std::numeric_limits<int64_t>::max();
constexpr int64_t kNewestIrSchema = 1;

// Keys of sidecar records that have fields of their own. If they were also among the unknown keys, an export would
// write them twice.
using Keys = absl::Span<const std::string_view>;
constexpr std::string_view kRunKeys[] = {"run_id", "kernel_id", "kernel_name", "kernel_source", "input_shapes",
                                         "dtypes", "hardware",  "settings",    "ir_graph",      "configs"};
constexpr std::string_view kGraphKeys[] = {"schema_version", "run_id", "directed", "multigraph",
                                           "graph",          "nodes",  "links",    "edges"};
constexpr std::string_view kGraphIdentity[] = {"run_id", "kernel_id", "kernel_name", "input_shapes"};

// Collects the first error.
class Checker {
 public:
  void Require(bool condition, const char* what) {
    if (!condition && !refusal_) refusal_ = Invalid(what);
  }

  void RunId(std::string_view run_id) { Require(record::IsHexId(run_id), "run_id is not 64 lower-case hex digits"); }

  void AttemptId(std::string_view id) { Require(id.size() == record::kAttemptIdBytes, "attempt_id is not 16 bytes"); }

  // Checks all text fields of a message by reflection.
  void NoNul(const google::protobuf::Message& message) {
    if (refusal_) return;
    if (const std::optional<std::string> field = FieldWithNul(message)) NulIn(*field);
  }

  void NoNul(std::string_view text, const char* name) {
    if (text.find('\0') != std::string_view::npos) NulIn(name);
  }

  void Seq(uint64_t seq) { Require(seq >= 1 && seq <= kMaxInteger, "seq is not between 1 and 2^63-1"); }

  void Finite(double value, const char* name) {
    if (!std::isfinite(value)) Refuse(absl::StrCat(name, " is not finite"));
  }

  void NotNegative(double value, const char* name) {
    if (!std::isfinite(value) || value < 0) Refuse(absl::StrCat(name, " is not finite or negative"));
  }

  void Count(uint64_t value, const char* name) {
    if (value > kMaxInteger) Refuse(absl::StrCat(name, " is above 2^63-1"));
  }

  // In fields without presence, an empty text means unset.
  void OptionalJson(std::string_view text, const char* name, record::Json::Kind kind) {
    if (!text.empty()) Json(text, name, kind);
  }

  void Json(std::string_view text, const char* name, record::Json::Kind kind) {
    if (refusal_) return;
    absl::StatusOr<record::Json> json = record::ParseJson(text);
    if (!json.ok()) return Refuse(absl::StrCat(name, " is not JSON: ", json.status().message()));
    if (json->kind == kind) return;
    Refuse(absl::StrCat(name, kind == record::Json::Kind::kObject ? " is no JSON object" : " is no JSON array"));
  }

  // Checks a JSON object of keys that have no field of their own, or an empty text. `known` contains the keys that have
  // a field.
  void Members(std::string_view text, const char* name, Keys known) {
    if (refusal_ || text.empty()) return;
    absl::StatusOr<record::Json> json = record::ParseJson(text);
    if (!json.ok()) return Refuse(absl::StrCat(name, " is not JSON: ", json.status().message()));
    if (json->kind != record::Json::Kind::kObject) return Refuse(absl::StrCat(name, " is no JSON object"));
    for (const std::string_view key : known) {
      if (json->Find(key) != nullptr) Refuse(absl::StrCat(name, " has the key ", std::string(key), ", which is known"));
    }
  }

  void AnyJson(std::string_view text, const char* name) {
    if (refusal_) return;
    if (absl::Status status = record::ParseJson(text).status(); !status.ok()) {
      Refuse(absl::StrCat(name, " is not JSON: ", status.message()));
    }
  }

  void Unsupported(std::string message) {
    if (!refusal_) refusal_ = Refusal{v1::Reject::REASON_UNSUPPORTED_VERSION, std::move(message)};
  }

  void Refuse(std::string message) {
    if (!refusal_) refusal_ = Invalid(std::move(message));
  }

  MaybeRefusal Result() && { return std::move(refusal_); }

 private:
  void NulIn(std::string_view field) { Refuse(absl::StrCat(std::string(field), " holds a NUL")); }

  MaybeRefusal refusal_;
};

constexpr record::Json::Kind kObject = record::Json::Kind::kObject;

void Check(const v1::Run& run, Checker& check) {
  check.RunId(run.run_id());
  if (run.has_kernel_id()) check.Require(record::IsHexId(run.kernel_id()), "kernel_id is not 64 lower-case hex digits");
  if (run.has_settings_json()) check.AnyJson(run.settings_json(), "settings_json");
  if (run.has_extra_json()) check.Members(run.extra_json(), "extra_json", kRunKeys);
}

void Check(const v1::Attempt& attempt, Checker& check) {
  check.AttemptId(attempt.attempt_id());
  check.RunId(attempt.run_id());
  check.Require(attempt.state() >= v1::Attempt::STATE_UNSPECIFIED && attempt.state() <= v1::Attempt::STATE_ABANDONED,
                "state is not known");
  for (const std::string& id : attempt.supersedes()) {
    check.Require(id.size() == record::kAttemptIdBytes && id != attempt.attempt_id(),
                  "supersedes holds something else than 16-byte ids of other attempts");
  }
  if (attempt.has_environment_json()) check.Json(attempt.environment_json(), "environment_json", kObject);
  if (attempt.has_counters_json()) check.Json(attempt.counters_json(), "counters_json", kObject);
}

void Check(const v1::Config& config, Checker& check) {
  check.Require(config.config_id() != 0, "config_id is 0");
  check.Require(!config.text().empty(), "text is empty");
}

void Check(const v1::RunConfig& config, Checker& check) {
  check.RunId(config.run_id());
  check.Require(config.config_id() != 0, "config_id is 0");
  if (config.has_sample_id()) check.Require(config.sample_id().size() == kSha256Bytes, "sample_id is not 32 bytes");
  if (config.has_record_keys_json()) {
    check.Json(config.record_keys_json(), "record_keys_json", record::Json::Kind::kArray);
  }
}

void Check(const v1::Measurement& measurement, Checker& check) {
  check.AttemptId(measurement.attempt_id());
  check.Seq(measurement.seq());
  check.Finite(measurement.timestamp_s(), "timestamp_s");
  check.Require(!measurement.status().empty(), "status is empty");
  check.NoNul(measurement.status(), "status");  // the failure's texts are stored as JSON
  check.Finite(measurement.perf_ms(), "perf_ms");
  check.Finite(measurement.compile_time_s(), "compile_time_s");
  check.Require(measurement.config_id() != 0, "config_id is 0");
  const size_t log_size = measurement.failure().log_sha256().size();
  check.Require(log_size == 0 || log_size == kSha256Bytes, "failure.log_sha256 is not 32 bytes");
}

bool IsLowerHex(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == std::string_view::npos; }

void Check(const v1::SourceHash& hash, Checker& check) {
  check.AttemptId(hash.attempt_id());
  check.Seq(hash.seq());
  const std::string& digits = hash.source_hash();
  check.Require(!digits.empty() && digits.size() % 2 == 0 && IsLowerHex(digits),
                "source_hash is not an even number of lower-case hex digits");
}

void Check(const v1::MeasurementDetail& detail, Checker& check) {
  check.AttemptId(detail.attempt_id());
  check.Seq(detail.seq());
  check.Require(v1::MeasurementDetail::Stage_IsValid(detail.stage()), "stage is not known");
  for (const double ms : detail.samples_ms()) check.NotNegative(ms, "samples_ms");
  check.Count(detail.throttled_samples(), "throttled_samples");
  check.Count(detail.registers(), "registers");
  check.Count(detail.spill_bytes(), "spill_bytes");
  check.Count(detail.shared_bytes(), "shared_bytes");
  check.Count(detail.binary_bytes(), "binary_bytes");
  check.Require(detail.occupancy() >= 0 && detail.occupancy() <= 1, "occupancy is not between 0 and 1");
  check.NotNegative(detail.worst_absolute_error(), "worst_absolute_error");
  check.NotNegative(detail.worst_relative_error(), "worst_relative_error");
  check.NotNegative(detail.sm_clock_mhz(), "sm_clock_mhz");
  check.Finite(detail.exact_perf_ms(), "exact_perf_ms");
}

void Check(const v1::AttemptEvent& event, Checker& check) {
  check.AttemptId(event.attempt_id());
  check.Seq(event.seq());
  check.Require(!event.name().empty(), "name is empty");
  check.Require(!event.text().empty(), "text is empty");
  check.NoNul(event.name(), "name");
  check.NoNul(event.text(), "text");
}

void Check(const v1::IrNode& node, Checker& check) {
  const auto json = [&check](bool has, const std::string& text, const char* name) {
    if (has) check.AnyJson(text, name);
  };
  json(node.has_block_ids_json(), node.block_ids_json(), "block_ids_json");
  json(node.has_shape_json(), node.shape_json(), "shape_json");
  json(node.has_concrete_shape_json(), node.concrete_shape_json(), "concrete_shape_json");
  json(node.has_stride_json(), node.stride_json(), "stride_json");
  json(node.has_concrete_stride_json(), node.concrete_stride_json(), "concrete_stride_json");
  json(node.has_value_json(), node.value_json(), "value_json");
  json(node.has_input_dtypes_json(), node.input_dtypes_json(), "input_dtypes_json");
  json(node.has_input_shapes_json(), node.input_shapes_json(), "input_shapes_json");
  json(node.has_reduction_ranges_json(), node.reduction_ranges_json(), "reduction_ranges_json");
  json(node.has_pointwise_ranges_json(), node.pointwise_ranges_json(), "pointwise_ranges_json");
  check.OptionalJson(node.extra_json(), "extra_json of a node", kObject);
}

void Check(const v1::IrEdge& edge, Checker& check) {
  if (edge.has_arg_positions_json()) check.AnyJson(edge.arg_positions_json(), "arg_positions_json");
  if (edge.has_shape_json()) check.AnyJson(edge.shape_json(), "shape_json");
  check.OptionalJson(edge.extra_json(), "extra_json of an edge", kObject);
}

void Check(const v1::IrGraph& graph, Checker& check) {
  if (graph.schema_version() > kNewestIrSchema) {
    return check.Unsupported(
        absl::StrCat("schema_version ", graph.schema_version(), " is newer than ", kNewestIrSchema));
  }
  check.RunId(graph.run_id());
  check.Require(graph.kind() == "device" || graph.kind() == "wrapper", "kind is neither \"device\" nor \"wrapper\"");
  check.Members(graph.attributes_json(), "attributes_json", kGraphIdentity);
  check.Members(graph.extra_json(), "extra_json", kGraphKeys);
  for (const v1::IrNode& node : graph.nodes()) Check(node, check);
  for (const v1::IrEdge& edge : graph.edges()) Check(edge, check);
}

void CheckUnset(const v1::Record& record, Checker& check) {
  // A record of a kind that only newer producers know arrives as an unknown field.
  if (record.GetReflection()->GetUnknownFields(record).empty()) return check.Require(false, "the record is empty");
  check.Unsupported("the record is of a kind that this collector does not know");
}

}  // namespace

MaybeRefusal Validate(const v1::Record& record) {
  Checker check;
  switch (record.kind_case()) {
    case v1::Record::kRun:
      Check(record.run(), check);
      check.NoNul(record.run());
      break;
    case v1::Record::kAttempt:
      Check(record.attempt(), check);
      check.NoNul(record.attempt());
      break;
    case v1::Record::kConfig:
      Check(record.config(), check);
      check.NoNul(record.config());
      break;
    case v1::Record::kRunConfig:
      Check(record.run_config(), check);
      check.NoNul(record.run_config());
      break;
    case v1::Record::kMeasurement:
      Check(record.measurement(), check);
      break;
    case v1::Record::kSourceHash:
      Check(record.source_hash(), check);
      break;
    case v1::Record::kMeasurementDetail:
      Check(record.measurement_detail(), check);
      break;
    case v1::Record::kAttemptEvent:
      Check(record.attempt_event(), check);
      break;
    case v1::Record::kIrGraph:
      Check(record.ir_graph(), check);
      check.NoNul(record.ir_graph());
      break;
    case v1::Record::kReject:
      check.NoNul(record.reject());
      break;
    case v1::Record::KIND_NOT_SET:
      CheckUnset(record, check);
      break;
  }
  return std::move(check).Result();
}

}  // namespace telemetry::storage
