#include "proto/record/sidecar/ir_record.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/numbers.h"
#include "proto/record/sidecar/ir_parts.h"
#include "proto/record/sidecar/record_members.h"
#include "proto/record/strings.h"

namespace telemetry::record::sidecar {
namespace {

constexpr int64_t kNewestSchema = 1;

absl::Status TakeSchemaVersion(RecordMembers* members, v1::IrGraph* graph) {
  const Json* version = members->Take("schema_version");
  if (version == nullptr) return absl::OkStatus();
  const std::optional<int64_t> number = ParseInt64(version->kind == Json::Kind::kNumber ? version->text : "");
  if (!number.has_value() || *number < 0) return absl::InvalidArgumentError("schema_version: not a count");
  if (*number > kNewestSchema) {
    return absl::FailedPreconditionError(
        Cat("schema_version: ", *number, " is newer than this program, which knows ", kNewestSchema));
  }
  graph->set_schema_version(*number);
  return absl::OkStatus();
}

absl::Status TakeAttributes(RecordMembers* members, v1::IrGraph* graph) {
  const Json* attributes = members->Take("graph");
  if (attributes == nullptr) return absl::InvalidArgumentError("graph: missing");
  if (attributes->kind != Json::Kind::kObject) return absl::InvalidArgumentError("graph: not an object");
  RecordMembers own(*attributes);
  const Json* run_id = own.Take("run_id");
  if (run_id != nullptr && (run_id->kind != Json::Kind::kString || run_id->text != graph->run_id())) {
    return absl::InvalidArgumentError("graph.run_id: not the record's run_id");
  }
  for (const std::string_view identity : {"kernel_id", "kernel_name", "input_shapes"}) own.Take(identity);
  std::string rest = own.RestJson();
  graph->set_attributes_json(rest.empty() ? "{}" : std::move(rest));
  return absl::OkStatus();
}

template <typename Parts, typename ParseOne>
absl::Status TakeParts(std::string_view key, const Json* list, Parts* parts, ParseOne parse_one) {
  if (list == nullptr) return absl::InvalidArgumentError(Cat(key, ": missing"));
  if (list->kind != Json::Kind::kArray) return absl::InvalidArgumentError(Cat(key, ": not a list"));
  parts->Reserve(static_cast<int>(list->items.size()));
  for (size_t i = 0; i < list->items.size(); ++i) {
    absl::Status status = parse_one(list->items[i], parts->Add());
    if (!status.ok()) return absl::InvalidArgumentError(Cat(key, "[", i, "]: ", status.message()));
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::IrGraph> TakeGraph(RecordMembers* members, std::string_view run_id) {
  v1::IrGraph graph;
  graph.set_run_id(std::string(run_id));
  graph.set_kind("device");
  bool directed = false;
  bool multigraph = false;
  absl::Status status = TakeSchemaVersion(members, &graph);
  if (status.ok()) status = members->TakeBool("directed", &directed);
  if (status.ok()) status = members->TakeBool("multigraph", &multigraph);
  if (status.ok()) status = TakeAttributes(members, &graph);
  if (status.ok()) status = TakeParts("nodes", members->Take("nodes"), graph.mutable_nodes(), ParseIrNode);
  // A writer uses one of the two names. The other one cannot be kept as an unknown key.
  const bool has_links = members->Find("links") != nullptr;
  if (status.ok() && has_links && members->Find("edges") != nullptr) {
    status = absl::InvalidArgumentError("links: conflicts with edges");
  }
  const std::string_view edges = has_links ? "links" : "edges";
  if (status.ok()) status = TakeParts(edges, members->Take(edges), graph.mutable_edges(), ParseIrEdge);
  if (!status.ok()) return status;
  graph.set_directed(directed);
  graph.set_multigraph(multigraph);
  graph.set_extra_json(members->RestJson());
  return graph;
}

template <typename Parts, typename AppendOne>
void AppendList(const Parts& parts, KeyOrder order, AppendOne append_one, std::string* out) {
  out->push_back('[');
  std::string_view separator;
  for (const auto& part : parts) {
    out->append(separator);
    separator = ", ";
    append_one(part, order, out);
  }
  out->push_back(']');
}

// Writes the nodes, the edges and the extra keys.
void WriteParts(const v1::IrGraph& graph, KeyOrder order, std::string_view edges, RecordWriter* writer,
                std::string* out) {
  writer->Key("nodes");
  AppendList(graph.nodes(), order, AppendIrNode, out);
  writer->Key(edges);
  AppendList(graph.edges(), order, AppendIrEdge, out);
  writer->WriteMembers(graph.extra_json());
  writer->Close();
}

void AppendAttributes(const v1::IrGraph& graph, const v1::Run& run, std::string* out) {
  RecordWriter writer(out);
  writer.String("run_id", run.run_id());
  writer.String("kernel_id", run.kernel_id());
  writer.String("kernel_name", run.kernel_name());
  writer.String("input_shapes", run.input_shapes());
  writer.WriteMembers(graph.attributes_json());
  writer.Close();
}

}  // namespace

absl::StatusOr<v1::IrGraph> ParseIrRecord(const Json& record) {
  if (record.kind != Json::Kind::kObject) return absl::InvalidArgumentError("not a JSON object");
  RETURN_IF_ERROR(RefuseRepeatedKeys(record));
  RecordMembers members(record);
  std::string run_id;
  RETURN_IF_ERROR(members.TakeString("run_id", &run_id));
  if (!IsHexId(run_id)) return absl::InvalidArgumentError("run_id: not 64 lower-case hex digits");
  return TakeGraph(&members, run_id);
}

absl::StatusOr<v1::IrGraph> ParseHelionIrGraph(const Json& graph, std::string_view run_id) {
  if (graph.kind != Json::Kind::kObject) return absl::InvalidArgumentError("not a JSON object");
  RETURN_IF_ERROR(RefuseRepeatedKeys(graph));
  RecordMembers members(graph);
  if (members.Find("run_id") != nullptr) {
    return absl::InvalidArgumentError("run_id: belongs to the record, not to its graph");
  }
  return TakeGraph(&members, run_id);
}

std::string FormatIrRecord(const v1::IrGraph& graph, const v1::Run& run) {
  std::string out;
  RecordWriter writer(&out);
  writer.Text("schema_version", Cat(graph.has_schema_version() ? graph.schema_version() : kNewestSchema));
  writer.String("run_id", run.run_id());
  writer.Bool("directed", graph.directed());
  writer.Bool("multigraph", graph.multigraph());
  writer.Key("graph");
  AppendAttributes(graph, run, &out);
  WriteParts(graph, KeyOrder::kPr2750, "links", &writer, &out);
  return out;
}

std::string FormatHelionIrGraph(const v1::IrGraph& graph) {
  std::string out;
  RecordWriter writer(&out);
  writer.Bool("directed", graph.directed());
  writer.Bool("multigraph", graph.multigraph());
  writer.Text("graph", graph.attributes_json().empty() ? "{}" : graph.attributes_json());
  WriteParts(graph, KeyOrder::kHelion, "edges", &writer, &out);
  return out;
}

}  // namespace telemetry::record::sidecar
