#include "proto/record/sidecar/meta_record.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/sidecar/ir_record.h"
#include "proto/record/sidecar/record_members.h"
#include "proto/record/strings.h"

namespace telemetry::record::sidecar {
namespace {

absl::Status TakeId(std::string_view key, RecordMembers* members, std::string* id) {
  absl::Status status = members->TakeString(key, id);
  if (status.ok() && !IsHexId(*id)) {
    status = absl::InvalidArgumentError(Cat(key, ": not 64 lower-case hex digits"));
  }
  return status;
}

// Reads the keys that all dialects have.
absl::Status TakeDescription(RecordMembers* members, v1::Run* run) {
  const std::pair<std::string_view, std::string*> fields[] = {
      {"kernel_name", run->mutable_kernel_name()},   {"kernel_source", run->mutable_kernel_source()},
      {"input_shapes", run->mutable_input_shapes()}, {"dtypes", run->mutable_dtypes()},
      {"hardware", run->mutable_hardware()},
  };
  for (const auto& [key, value] : fields) {
    RETURN_IF_ERROR(members->TakeString(key, value));
  }
  return absl::OkStatus();
}

// Finds the settings signature by trying the usual ones: the record does not contain its settings, but its kernel_id is
// computed from them.
void FindSettingsSignature(v1::Run* run) {
  for (const std::string_view static_shapes : {"static_shapes=True", "static_shapes=False"}) {
    for (const std::string_view index_dtype : {"", ", index_dtype=torch.int64", ", index_dtype=torch.int32"}) {
      std::string signature = Cat(static_shapes, index_dtype);
      if (KernelId(run->kernel_source(), signature) != run->kernel_id()) continue;
      run->set_settings_signature(std::move(signature));
      return;
    }
  }
}

absl::Status TakeConfigs(RecordMembers* members, std::vector<RecordConfig>* configs) {
  const Json* listed = members->Take("configs");
  if (listed == nullptr) return absl::OkStatus();
  if (listed->kind != Json::Kind::kObject) return absl::InvalidArgumentError("configs: not an object");
  configs->reserve(listed->members.size());
  for (const auto& [digits, config] : listed->members) {
    const absl::StatusOr<uint64_t> id = ParseConfigId(digits);
    if (!id.ok()) return absl::InvalidArgumentError(Cat("configs: ", id.status().message()));
    if (config.kind != Json::Kind::kObject || ConfigId(config) != *id) {
      return absl::InvalidArgumentError(Cat("configs: ", digits, " is not the id of its config"));
    }
    configs->push_back({.config_id = *id, .config = config});
  }
  return absl::OkStatus();
}

absl::Status TakeSettings(RecordMembers* members, v1::Run* run) {
  const Json* settings = members->Take("settings");
  if (settings == nullptr || settings->is_null()) return absl::OkStatus();
  run->set_settings_json(ToJson(*settings));
  if (std::optional<std::string> signature = SettingsSignature(*settings); signature.has_value()) {
    run->set_settings_signature(*std::move(signature));
    run->set_kernel_id(KernelId(run->kernel_source(), run->settings_signature()));
  }
  return absl::OkStatus();
}

absl::Status TakeIrGraph(RecordMembers* members, MetaRecord* meta) {
  const Json* graph = members->Take("ir_graph");
  if (graph == nullptr || graph->is_null()) return absl::OkStatus();
  absl::StatusOr<v1::IrGraph> parsed = ParseHelionIrGraph(*graph, meta->run.run_id());
  if (!parsed.ok()) return absl::Status(parsed.status().code(), Cat("ir_graph: ", parsed.status().message()));
  meta->ir_graph = *std::move(parsed);
  return absl::OkStatus();
}

absl::Status TakeHelion(RecordMembers* members, MetaRecord* meta) {
  absl::Status status = TakeId("run_id", members, meta->run.mutable_run_id());
  if (status.ok()) status = TakeDescription(members, &meta->run);
  if (status.ok()) status = TakeSettings(members, &meta->run);
  if (status.ok()) status = TakeIrGraph(members, meta);
  if (status.ok()) status = TakeConfigs(members, &meta->configs);
  return status;
}

absl::Status TakePullRequest(RecordMembers* members, v1::Run* run) {
  absl::Status status = TakeId("kernel_id", members, run->mutable_kernel_id());
  if (status.ok()) status = TakeDescription(members, run);
  if (!status.ok()) return status;
  FindSettingsSignature(run);
  if (members->Find("run_id") != nullptr) return TakeId("run_id", members, run->mutable_run_id());
  run->set_run_id(RunIdPr2750(run->kernel_id(), run->input_shapes(), run->dtypes(), run->hardware()));
  return absl::OkStatus();
}

void WriteDescription(const v1::Run& run, RecordWriter* writer) {
  writer->String("kernel_name", run.kernel_name());
  writer->String("kernel_source", run.kernel_source());
  writer->String("input_shapes", run.input_shapes());
  writer->String("dtypes", run.dtypes());
  writer->String("hardware", run.hardware());
}

void AppendObject(const RecordConfig& config, std::string* out) { AppendJson(config.config, out); }
void AppendObject(const RecordConfigJson& config, std::string* out) { out->append(config.json); }

template <typename Config>
std::string FormatHelion(const v1::Run& run, const v1::IrGraph* ir_graph, const std::vector<Config>& configs) {
  std::string out;
  RecordWriter writer(&out);
  writer.String("run_id", run.run_id());
  WriteDescription(run, &writer);
  writer.Text("settings", run.has_settings_json() ? run.settings_json() : "null");
  writer.Text("ir_graph", ir_graph != nullptr ? FormatHelionIrGraph(*ir_graph) : "null");
  writer.Key("configs");
  RecordWriter list(&out);
  for (const Config& config : configs) {
    list.Key(FormatConfigId(config.config_id));
    AppendObject(config, &out);
  }
  list.Close();
  writer.WriteMembers(run.extra_json());
  writer.Close();
  return out;
}

}  // namespace

absl::StatusOr<MetaRecord> ParseMetaRecord(const Json& record) {
  if (record.kind != Json::Kind::kObject) return absl::InvalidArgumentError("not a JSON object");
  RETURN_IF_ERROR(RefuseRepeatedKeys(record));
  RecordMembers members(record);
  MetaRecord meta;
  const bool is_helion = members.Find("kernel_id") == nullptr;
  RETURN_IF_ERROR(is_helion ? TakeHelion(&members, &meta) : TakePullRequest(&members, &meta.run));
  if (std::string extra = members.RestJson(); !extra.empty()) meta.run.set_extra_json(std::move(extra));
  return meta;
}

std::string FormatHelionMeta(const v1::Run& run, const v1::IrGraph* ir_graph,
                             const std::vector<RecordConfig>& configs) {
  return FormatHelion(run, ir_graph, configs);
}

std::string FormatHelionMetaOfJson(const v1::Run& run, const v1::IrGraph* ir_graph,
                                   const std::vector<RecordConfigJson>& configs) {
  return FormatHelion(run, ir_graph, configs);
}

std::string FormatPr2750Meta(const v1::Run& run) {
  std::string out;
  RecordWriter writer(&out);
  writer.String("run_id", run.run_id());
  writer.String("kernel_id", run.kernel_id());
  WriteDescription(run, &writer);
  writer.WriteMembers(run.extra_json());
  writer.Close();
  return out;
}

std::string FormatPr2699Meta(const v1::Run& run) {
  Json record = Json::Object();
  const std::pair<std::string_view, std::string_view> fields[] = {
      {"kernel_id", run.kernel_id()},       {"kernel_name", run.kernel_name()}, {"kernel_source", run.kernel_source()},
      {"input_shapes", run.input_shapes()}, {"dtypes", run.dtypes()},           {"hardware", run.hardware()},
  };
  for (const auto& [key, value] : fields) record.members.emplace_back(key, Json::String(std::string(value)));
  if (absl::StatusOr<Json> extra = ParseJson(run.extra_json()); extra.ok()) {
    for (auto& member : extra->members) record.members.push_back(std::move(member));
  }
  return ToIndentedJson(record);
}

}  // namespace telemetry::record::sidecar
