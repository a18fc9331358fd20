#include "worker/ir/graph_record/ir_graph_edges.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "proto/record/strings.h"
#include "worker/ir/args.h"
#include "worker/ir/graph_record/ir_node_features.h"

namespace telemetry::worker::ir::graph_record {
namespace {

using record::Cat;
using record::Json;

// The edges of one consumer, one per producer.
class EdgeList {
 public:
  EdgeList(const DeviceIr& ir, const Graph& graph, const IrGraphOptions& options)
      : ir_(ir), graph_(graph), options_(options) {}

  // Adds an occurrence of `from` among the arguments of `to`.
  void Add(const Node& from, const std::string& to, std::string_view kind, size_t position) {
    std::string source = RecordId(graph_, from);
    auto edge = std::find_if(edges_.begin(), edges_.end(), [&](const Json& one) {
      return one.Find("source")->text == source && one.Find("target")->text == to;
    });
    if (edge == edges_.end()) {
      edges_.push_back(NewEdge(std::move(source), to, kind, from));
      edge = edges_.end() - 1;
    }
    edge->members[kPositions].second.items.push_back(Json::Integer(static_cast<int64_t>(position)));
  }

  std::vector<Json>& edges() { return edges_; }

 private:
  static constexpr size_t kPositions = 3;  // index of arg_positions in the members of an edge

  Json NewEdge(std::string source, const std::string& target, std::string_view kind, const Node& from) const {
    ValueFeatures value = ExtractValueFeatures(ir_, from, options_);
    Json edge = Json::Object();
    edge.members = {{"source", Json::String(std::move(source))},
                    {"target", Json::String(target)},
                    {"edge_kind", Json::String(std::string(kind))},
                    {"arg_positions", Json::Array()},
                    {"dtype", std::move(value.dtype)},
                    {"shape", std::move(value.shape)}};
    return edge;
  }

  const DeviceIr& ir_;
  const Graph& graph_;
  const IrGraphOptions& options_;
  std::vector<Json> edges_;
};

// The form of a control-flow node: the arguments that together are passed to the child graphs, and the number of child
// graphs.
struct CallForm {
  std::vector<size_t> lists;
  size_t graphs = 1;
};

std::optional<CallForm> FindCallForm(Op op) {
  switch (op) {
    case Op::kForLoop:
    case Op::kReductionLoop:
      return CallForm{.lists = {0, 1}};
    case Op::kWhile:
      return CallForm{.lists = {0, 1}, .graphs = 2};
    case Op::kIf:
      return CallForm{.lists = {1}, .graphs = 2};
    case Op::kCall:
      return CallForm{.lists = {0}};
    default:
      return std::nullopt;
  }
}

// Returns the values that the node passes to the placeholders of its child graphs, or nullopt if the node does not have
// the form of its op.
std::optional<Arg::List> LiveArguments(const CallForm& form, const Node& node) {
  if (node.graphs.size() != form.graphs) return std::nullopt;
  Arg::List live;
  for (const size_t at : form.lists) {
    const auto* list = at < node.args.size() ? std::get_if<Arg::List>(&node.args[at].value) : nullptr;
    if (list == nullptr) return std::nullopt;
    live.insert(live.end(), list->begin(), list->end());
  }
  return live;
}

void AddDataEdges(const Graph& graph, const Node& node, IrGraphWarnings* warnings, EdgeList* edges) {
  const std::vector<NodeRef> uses = CollectUses(node);
  for (size_t i = 0; i < uses.size(); ++i) {
    const Node* producer = FindNode(graph, uses[i]);
    if (producer == nullptr) {
      warnings->Warn(Cat(RecordId(graph, node), " uses a node that does not exist; the edge is left out"));
      continue;
    }
    edges->Add(*producer, RecordId(graph, node), "data", i);
  }
}

// Returns false if the child graph does not exist or has another number of placeholders than there are values.
bool AddEdgesInto(const DeviceIr& ir, const Graph& graph, int child_id, const Arg::List& live, EdgeList* edges) {
  if (child_id < 0 || child_id >= static_cast<int>(ir.graphs.size())) return false;
  const Graph& child = ir.graphs[static_cast<size_t>(child_id)];
  const std::vector<const Node*> placeholders = Placeholders(child);
  for (size_t i = 0; i < std::min(placeholders.size(), live.size()); ++i) {
    const Node* argument = FindNode(graph, live[i]);
    if (argument != nullptr) edges->Add(*argument, RecordId(child, *placeholders[i]), "region", i);
  }
  return placeholders.size() == live.size();
}

// Returns false if the node is malformed. Some edges may have been added even then.
bool AddRegionEdges(const DeviceIr& ir, const Graph& graph, const Node& node, const CallForm& form, EdgeList* edges) {
  const std::optional<Arg::List> live = LiveArguments(form, node);
  if (!live.has_value()) return false;
  bool well_formed = true;
  for (const int child : node.graphs) well_formed = AddEdgesInto(ir, graph, child, *live, edges) && well_formed;
  return well_formed;
}

}  // namespace

std::set<int> LiveGraphs(const DeviceIr& ir) {
  std::set<int> live;
  std::vector<int> todo = {ir.root};
  while (!todo.empty()) {
    const int graph = todo.back();
    todo.pop_back();
    if (graph < 0 || graph >= static_cast<int>(ir.graphs.size()) || !live.insert(graph).second) continue;
    for (const Node& node : ir.graphs[static_cast<size_t>(graph)].nodes) {
      todo.insert(todo.end(), node.graphs.begin(), node.graphs.end());
    }
  }
  return live;
}

void AppendEdges(const DeviceIr& ir, const Graph& graph, const Node& node, bool is_live, const IrGraphOptions& options,
                 IrGraphWarnings* warnings, std::vector<Json>* links) {
  EdgeList edges(ir, graph, options);
  AddDataEdges(graph, node, warnings, &edges);
  if (const std::optional<CallForm> form = FindCallForm(node.op); form.has_value() && is_live) {
    if (!AddRegionEdges(ir, graph, node, *form, &edges)) {
      warnings->Warn(Cat(RecordId(graph, node), " is a malformed control-flow node; its region edges are incomplete"));
    }
  }
  for (Json& edge : edges.edges()) links->push_back(std::move(edge));
}

}  // namespace telemetry::worker::ir::graph_record
