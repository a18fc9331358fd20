#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_join.h"
#include "proto/base/status_macros.h"
#include "proto/record/json.h"
#include "proto/record/strings.h"
#include "server/storage/readers/ir_graph_reader.h"
#include "server/web/api/common.h"
#include "server/web/api/endpoints.h"
#include "server/web/api/run_scope.h"

namespace telemetry::web::api {
namespace {

using json::JsonWriter;
using json::Whole;
using record::Cat;
using storage::sql::Statement;

constexpr int kMostNodes = 20000;
constexpr int kMostEdges = 60000;

void WriteOptional(JsonWriter& out, std::string_view key, bool has, const std::string& text) {
  has ? out.Field(key, text) : out.Field(key, nullptr);
}

// Writes members that are JSON texts, and texts, each if it is set.
class FeatureWriter {
 public:
  explicit FeatureWriter(JsonWriter& out) : out_(out) { out_.BeginObject("features"); }
  ~FeatureWriter() { out_.EndObject(); }
  FeatureWriter(const FeatureWriter&) = delete;
  FeatureWriter& operator=(const FeatureWriter&) = delete;

  void Text(std::string_view key, bool has, const std::string& text) {
    if (has) out_.Field(key, text);
  }
  void Json(std::string_view key, bool has, const std::string& text) {
    if (!has) return;
    const absl::StatusOr<record::Json> json = record::ParseJson(text);
    out_.Key(key);
    json.ok() ? WriteJson(*json, out_) : out_.Value(text);
  }
  // Writes the members of an object that the record had beside its known keys.
  void Extra(const std::string& text) {
    const absl::StatusOr<record::Json> json = record::ParseJson(text.empty() ? "{}" : text);
    if (!json.ok()) return;
    for (const auto& [key, value] : json->members) {
      out_.Key(json::CleanText(key, json::kListTextBytes));
      WriteJson(value, out_);
    }
  }

 private:
  JsonWriter& out_;
};

// The file and the line of "FILE:LINE".
std::pair<std::string, std::optional<int64_t>> ParseLocation(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {text, std::nullopt};
  int64_t line = 0;
  const auto [end, error] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), line);
  if (error != std::errc() || end != text.data() + text.size()) return {text, std::nullopt};
  return {text.substr(0, colon), line};
}

void WriteFeatures(const v1::IrNode& node, JsonWriter& out) {
  FeatureWriter features(out);
  features.Text("lowering_class", node.has_lowering_class(), node.lowering_class());
  features.Text("device", node.has_device(), node.device());
  features.Json("block_ids", node.has_block_ids_json(), node.block_ids_json());
  features.Json("concrete_shape", node.has_concrete_shape_json(), node.concrete_shape_json());
  features.Json("stride", node.has_stride_json(), node.stride_json());
  features.Json("concrete_stride", node.has_concrete_stride_json(), node.concrete_stride_json());
  features.Json("value", node.has_value_json(), node.value_json());
  features.Json("input_dtypes", node.has_input_dtypes_json(), node.input_dtypes_json());
  features.Json("input_shapes", node.has_input_shapes_json(), node.input_shapes_json());
  features.Text("reduction_type", node.has_reduction_type(), node.reduction_type());
  features.Json("reduction_ranges", node.has_reduction_ranges_json(), node.reduction_ranges_json());
  features.Json("pointwise_ranges", node.has_pointwise_ranges_json(), node.pointwise_ranges_json());
  features.Extra(node.extra_json());
}

void WriteNode(const v1::IrNode& node, JsonWriter& out) {
  out.BeginObject();
  out.Field("id", node.id());
  out.Field("graph_id", node.graph_id());
  WriteOptional(out, "region_kind", node.has_region_kind(), node.region_kind());
  WriteOptional(out, "op_kind", node.has_op_kind(), node.op_kind());
  WriteOptional(out, "target", node.has_target(), node.target());
  WriteOptional(out, "dtype", node.has_dtype(), node.dtype());
  WriteOptional(out, "shape", node.has_shape_json(), node.shape_json());
  const auto [file, line] = ParseLocation(node.source_loc());
  WriteOptional(out, "source_file", node.has_source_loc(), file);
  out.Field("source_line", line);
  WriteFeatures(node, out);
  out.EndObject();
}

void WriteFeatures(const v1::IrEdge& edge, JsonWriter& out) {
  FeatureWriter features(out);
  features.Json("arg_positions", edge.has_arg_positions_json(), edge.arg_positions_json());
  features.Text("dtype", edge.has_dtype(), edge.dtype());
  features.Json("shape", edge.has_shape_json(), edge.shape_json());
  features.Extra(edge.extra_json());
}

void WriteEdge(const v1::IrEdge& edge, JsonWriter& out) {
  out.BeginObject();
  out.Field("source", edge.source());
  out.Field("target", edge.target());
  WriteOptional(out, "edge_kind", edge.has_edge_kind(), edge.edge_kind());
  WriteFeatures(edge, out);
  out.EndObject();
}

// A region of a graph, as its nodes and the edges into it tell.
struct Region {
  const v1::IrNode* first = nullptr;
  int64_t nodes = 0;
  std::optional<int64_t> parent;
  std::string entry_node;
};

std::map<int64_t, Region> FindRegions(const v1::IrGraph& graph) {
  std::map<int64_t, Region> regions;
  std::map<std::string_view, int64_t> region_of;
  for (const v1::IrNode& node : graph.nodes()) {
    Region& region = regions[node.graph_id()];
    if (region.first == nullptr) region.first = &node;
    ++region.nodes;
    region_of.emplace(node.id(), node.graph_id());
  }
  for (const v1::IrEdge& edge : graph.edges()) {
    const auto source = region_of.find(edge.source());
    const auto target = region_of.find(edge.target());
    const bool enters = edge.edge_kind() == "region" && source != region_of.end() && target != region_of.end() &&
                        source->second != target->second;
    if (!enters) continue;
    Region& region = regions[target->second];
    if (region.parent.has_value()) continue;
    region.parent = source->second;
    region.entry_node = edge.source();
  }
  return regions;
}

void WriteRegions(const v1::IrGraph& graph, JsonWriter& out) {
  out.BeginArray("regions");
  for (const auto& [id, region] : FindRegions(graph)) {
    out.BeginObject();
    out.Field("graph_id", id);
    WriteOptional(out, "region_kind", region.first != nullptr && region.first->has_region_kind(),
                  region.first == nullptr ? "" : region.first->region_kind());
    const absl::StatusOr<record::Json> blocks =
        record::ParseJson(region.first == nullptr ? "" : region.first->block_ids_json());
    out.Key("block_ids");
    blocks.ok() && blocks->kind == record::Json::Kind::kArray ? WriteJson(*blocks, out) : out.Value(nullptr);
    out.Field("nodes", region.nodes);
    out.Field("parent", region.parent);
    WriteOptional(out, "entry_node", region.parent.has_value(), region.entry_node);
    out.EndObject();
  }
  out.EndArray();
}

absl::Status WriteSource(const Call& call, int64_t run, JsonWriter& out) {
  Statement sender(call.scratch,
                   "SELECT t.label, r.kernel FROM runs AS r JOIN texts AS t ON t.text = r.sender WHERE r.run = ?1");
  ASSIGN_OR_RETURN(const bool found, sender.Bind(run).Step());
  found ? WriteText(out, "sender", sender, 0) : out.Field("sender", nullptr);
  Statement source(call.dataset, "SELECT source FROM kernels WHERE kernel = ?1");
  ASSIGN_OR_RETURN(const bool has_source, source.Bind(found ? sender.Int(1) : 0).Step());
  has_source && !source.IsNull(0) ? out.Field("source", Whole{source.Text(0)}) : out.Field("source", nullptr);
  return absl::OkStatus();
}

void WriteGraph(const v1::IrGraph& graph, JsonWriter& out) {
  out.Field("kind", graph.kind());
  graph.has_schema_version() ? out.Field("schema_version", graph.schema_version())
                             : out.Field("schema_version", nullptr);
  out.Field("directed", graph.directed());
  const absl::StatusOr<record::Json> attributes =
      record::ParseJson(graph.attributes_json().empty() ? "{}" : graph.attributes_json());
  out.Key("attributes");
  if (attributes.ok()) {
    WriteJson(*attributes, out);
  } else {
    out.BeginObject();
    out.EndObject();
  }
  out.BeginArray("nodes");
  for (int i = 0; i < std::min(graph.nodes_size(), kMostNodes); ++i) WriteNode(graph.nodes(i), out);
  out.EndArray();
  out.BeginArray("edges");
  for (int i = 0; i < std::min(graph.edges_size(), kMostEdges); ++i) WriteEdge(graph.edges(i), out);
  out.EndArray();
  WriteRegions(graph, out);
  out.Field("nodes_left_out", std::max(graph.nodes_size() - kMostNodes, 0));
  out.Field("edges_left_out", std::max(graph.edges_size() - kMostEdges, 0));
}

}  // namespace

absl::Status ListGraphs(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"sender"}));
  ASSIGN_OR_RETURN(const RunScope scope, FindRun(call));
  out.BeginObject();
  out.BeginArray("items");
  for (const int64_t run : scope.runs) {
    Statement graphs(call.dataset,
                     {.text = "SELECT g.kind, s.name, (SELECT count(*) FROM ir_nodes AS n WHERE n.ir_graph = g.ir_graph), "
                              "(SELECT count(*) FROM ir_edges AS e WHERE e.ir_graph = g.ir_graph) FROM ir_graphs AS g "
                              "JOIN runs AS r ON r.run = g.run LEFT JOIN senders AS s ON s.sender = r.sender "
                              "WHERE g.run = ?1 ORDER BY g.kind LIMIT 20"});
    graphs.Bind(run);
    RETURN_IF_ERROR(ForEachRow(graphs, [&] {
      out.BeginObject();
      WriteText(out, "kind", graphs, 0);
      WriteText(out, "sender", graphs, 1);
      WriteInt(out, "nodes", graphs, 2);
      WriteInt(out, "edges", graphs, 3);
      out.EndObject();
      return absl::OkStatus();
    }));
  }
  out.EndArray();
  out.EndObject();
  return absl::OkStatus();
}

absl::Status GetGraph(const Call& call, JsonWriter& out) {
  RETURN_IF_ERROR(call.parameters.Allow({"sender", "format"}));
  ASSIGN_OR_RETURN(const RunScope scope, FindRun(call));
  const std::string& kind = call.path[1];
  Statement find(call.dataset, Cat("SELECT run FROM ir_graphs WHERE kind = ?1 AND run IN (",
                                   absl::StrJoin(scope.runs, ", "), ") ORDER BY run LIMIT 1")
                                   .c_str());
  ASSIGN_OR_RETURN(const std::optional<int64_t> run, find.Bind(kind).QueryInt());
  if (!run.has_value()) return absl::NotFoundError("the run has no graph of this kind");
  storage::readers::IrGraphReader reader(call.dataset);
  ASSIGN_OR_RETURN(const std::string serialised, reader.Read(*run, scope.run_id, kind));
  v1::IrGraph graph;
  if (!graph.ParseFromString(serialised)) return absl::DataLossError("cannot parse a stored IR graph");
  out.BeginObject();
  RETURN_IF_ERROR(WriteSource(call, *run, out));
  WriteGraph(graph, out);
  out.EndObject();
  return absl::OkStatus();
}

}  // namespace telemetry::web::api
