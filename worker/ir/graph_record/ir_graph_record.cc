#include "worker/ir/graph_record/ir_graph_record.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "proto/record/strings.h"
#include "worker/ir/graph_record/ir_graph_edges.h"
#include "worker/ir/graph_record/ir_graph_warnings.h"
#include "worker/ir/graph_record/ir_node_features.h"

namespace telemetry::worker::ir::graph_record {
namespace {

using record::Cat;
using record::Json;

constexpr int64_t kSchemaVersion = 1;

Json Integers(const std::vector<int>& values) {
  Json list = Json::Array();
  for (const int value : values) list.items.push_back(Json::Integer(value));
  return list;
}

// Returns the graphs that are recorded.
std::vector<const Graph*> RecordedGraphs(const DeviceIr& ir) {
  std::set<int> alternates;
  for (const RolledReduction& rolled : ir.rolled) {
    if (rolled.rolled_graph != rolled.original_graph) alternates.insert(rolled.rolled_graph);
  }
  std::vector<const Graph*> graphs;
  for (const Graph& graph : ir.graphs) {
    if (alternates.count(graph.id) == 0) graphs.push_back(&graph);
  }
  return graphs;
}

std::string RegionKindWithWarning(const Graph& graph, IrGraphWarnings* warnings) {
  bool known = false;
  std::string kind = RegionKind(graph.kind, &known);
  if (!known)
    warnings->Warn(Cat("a graph has an unknown kind (", kind, "); the record contains the number of the kind"));
  return kind;
}

std::string OpKind(Op op) {
  if (op == Op::kPlaceholder) return "placeholder";
  return op == Op::kOutput ? "output" : "call_function";
}

Json SourceLocationText(const Node& node) {
  if (node.location.file.empty()) return Json::Null();
  return RecordString(Cat(node.location.file, ":", node.location.line));
}

Json NodeJson(const DeviceIr& ir, const Graph& graph, const std::string& region_kind, const Node& node,
              const IrGraphOptions& options) {
  ValueFeatures value = ExtractValueFeatures(ir, node, options);
  LoweringFeatures lowering = ExtractLoweringFeatures(ir, graph, node, options);
  Json json = Json::Object();
  json.members = {{"id", Json::String(RecordId(graph, node))},
                  {"graph_id", Json::Integer(graph.id)},
                  {"region_kind", Json::String(region_kind)},
                  {"block_ids", Integers(graph.axes)},
                  {"op_kind", Json::String(OpKind(node.op))},
                  {"target", Json::String(TargetText(node))},
                  {"lowering_class", std::move(lowering.lowering_class)},
                  {"dtype", std::move(value.dtype)},
                  {"shape", std::move(value.shape)},
                  {"concrete_shape", std::move(value.concrete_shape)},
                  {"stride", std::move(value.stride)},
                  {"concrete_stride", std::move(value.concrete_stride)},
                  {"device", std::move(value.device)},
                  {"value", std::move(value.value)},
                  {"input_dtypes", std::move(lowering.input_dtypes)},
                  {"input_shapes", std::move(lowering.input_shapes)},
                  {"reduction_type", std::move(lowering.reduction_type)},
                  {"reduction_ranges", std::move(lowering.reduction_ranges)},
                  {"pointwise_ranges", std::move(lowering.pointwise_ranges)},
                  {"source_loc", SourceLocationText(node)}};
  return json;
}

Json HierarchyJson(const std::vector<const Graph*>& graphs, IrGraphWarnings* warnings) {
  Json list = Json::Array();
  for (const Graph* graph : graphs) {
    Json entry = Json::Object();
    entry.members = {{"graph_id", Json::Integer(graph->id)},
                     {"region_kind", Json::String(RegionKindWithWarning(*graph, warnings))},
                     {"block_ids", Integers(graph->axes)}};
    list.items.push_back(std::move(entry));
  }
  return list;
}

Json RolledReductionsJson(const DeviceIr& ir) {
  Json list = Json::Array();
  for (const RolledReduction& rolled : ir.rolled) {
    Json entry = Json::Object();
    entry.members = {{"original_graph_id", Json::Integer(rolled.original_graph)},
                     {"rolled_block_ids", Integers(rolled.axes)},
                     {"used_rdim", Json::Bool(rolled.used_reduction)},
                     {"can_be_rolled_by_caller", Json::Bool(rolled.can_be_rolled_by_caller)}};
    list.items.push_back(std::move(entry));
  }
  return list;
}

Json AttributesJson(const DeviceIr& ir, const std::vector<const Graph*>& graphs, const IrGraphOptions& options,
                    IrGraphWarnings* warnings) {
  Json json = Json::Object();
  json.members = {{"run_id", Json::String(ValidUtf8(options.run_id))},
                  {"kernel_id", Json::String(ValidUtf8(options.kernel_id))},
                  {"kernel_name", Json::String(ValidUtf8(options.kernel_name))},
                  {"input_shapes", Json::String(ValidUtf8(options.input_shapes))},
                  {"num_graphs", Json::Integer(static_cast<int64_t>(graphs.size()))},
                  {"root_ids", Integers({ir.root})},
                  {"graphs", HierarchyJson(graphs, warnings)},
                  {"rolled_reductions", RolledReductionsJson(ir)}};
  return json;
}

}  // namespace

Json ExtractIrGraph(const DeviceIr& ir, const IrGraphOptions& options) {
  IrGraphWarnings warnings(options.on_warning);
  const std::vector<const Graph*> graphs = RecordedGraphs(ir);
  const std::set<int> live = LiveGraphs(ir);
  Json nodes = Json::Array();
  Json links = Json::Array();
  for (const Graph* graph : graphs) {
    const std::string region_kind = RegionKindWithWarning(*graph, &warnings);
    for (const Node& node : graph->nodes) {
      nodes.items.push_back(NodeJson(ir, *graph, region_kind, node, options));
      AppendEdges(ir, *graph, node, live.count(graph->id) > 0, options, &warnings, &links.items);
    }
  }
  Json record = Json::Object();
  record.members = {{"schema_version", Json::Integer(kSchemaVersion)},
                    {"run_id", Json::String(ValidUtf8(options.run_id))},
                    {"directed", Json::Bool(true)},
                    {"multigraph", Json::Bool(false)},
                    {"graph", AttributesJson(ir, graphs, options, &warnings)},
                    {"nodes", std::move(nodes)},
                    {"links", std::move(links)}};
  return record;
}

}  // namespace telemetry::worker::ir::graph_record
