#include "worker/codegen/plan/uses.h"

#include <algorithm>
#include <array>

namespace telemetry::worker::codegen::plan {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeRef;
using ir::Op;

// Reports whether the value is computed only from loads and pointwise operations, so that it can be emitted in any
// layout.
bool IsSlice(const Graph& graph, const Node& node) {
  if (node.shape.empty()) return true;
  const bool follows = node.op == Op::kLoad || ir::IsPointwise(node.op) || node.op == Op::kMaskTo;
  if (node.op == Op::kFull || node.op == Op::kIndex) return true;
  if (!follows) return false;
  for (const NodeRef used : ir::CollectUses(node)) {
    const Op op = graph.at(used).op;
    if (op == Op::kHostTensor || op == Op::kBlockSize) continue;
    if (!IsSlice(graph, graph.at(used))) return false;
  }
  return true;
}

bool LoadsAnything(const Graph& graph, const Node& node) {
  if (node.op == Op::kLoad) return true;
  const std::vector<NodeRef> used = ir::CollectUses(node);
  return std::any_of(used.begin(), used.end(), [&graph](NodeRef ref) { return LoadsAnything(graph, graph.at(ref)); });
}

// Returns Staging::load for an operand. Ignores masks to 0, because loads are 0 beyond the ends of axes.
int SoleLoad(const Graph& graph, NodeRef ref) {
  const Node& node = graph.at(ref);
  if (node.op == Op::kMaskTo && node.value == 0) return SoleLoad(graph, std::get<NodeRef>(node.args[0].value));
  if (node.op != Op::kLoad) return -1;
  const std::vector<ir::Index> indices = ir::ReadIndices(graph, node);
  const bool gathers = std::any_of(indices.begin(), indices.end(),
                                   [](const ir::Index& index) { return index.kind == ir::Index::Kind::kGather; });
  return gathers ? -1 : ref.index;
}

bool IsLoop(const Node& node) { return node.op == Op::kForLoop || node.op == Op::kReductionLoop; }

// Returns the placeholders of a graph, in the order of the arguments that they are bound to.
std::vector<int> Placeholders(const Graph& graph) {
  std::vector<int> placeholders;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].op == Op::kPlaceholder) placeholders.push_back(static_cast<int>(i));
  }
  return placeholders;
}

class Analysis {
 public:
  Analysis(const Plan& plan, bool may_hold) : plan_(plan), may_hold_(may_hold) {}

  Uses Run() && {
    CountCallers(plan_.GraphFor(plan_.ir->root));
    Analyze(plan_.ir->root);
    return std::move(uses_);
  }

 private:
  // A node with child graphs.
  struct Caller {
    int graph = 0;
    int node = 0;
    int count = 0;  // of the nodes that have the child
  };

  void CountCallers(const Graph& graph) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const int id : graph.nodes[i].graphs) {
        const Graph& child = plan_.GraphFor(id);
        Caller& caller = callers_[child.id];
        caller = {.graph = graph.id, .node = static_cast<int>(i), .count = caller.count + 1};
        if (caller.count == 1) CountCallers(child);
      }
    }
  }

  // Sets Staging::load and Staging::load_graph for an operand that is a load outside the loops of its dot. Returns
  // false if the operand is anything else, or if the loops or the code before them could store to the loaded memory.
  bool FindHeldLoad(const Graph& graph, NodeRef ref, Staging* staging) const {
    const Node& node = graph.at(ref);
    if (node.op == Op::kMaskTo && node.value == 0) {
      return FindHeldLoad(graph, std::get<NodeRef>(node.args[0].value), staging);
    }
    if (node.op == Op::kLoad) {
      staging->load = SoleLoad(graph, ref);
      staging->load_graph = graph.id;
      return staging->load >= 0 && graph.id != staging->graph;
    }
    const auto caller = callers_.find(graph.id);
    if (node.op != Op::kPlaceholder || caller == callers_.end() || caller->second.count > 1) return false;
    const Graph& outer = plan_.ir->graphs[static_cast<size_t>(caller->second.graph)];
    const Node& loop = outer.nodes[static_cast<size_t>(caller->second.node)];
    if (!IsLoop(loop) || HasEffectsUpTo(outer, caller->second.node)) return false;
    const std::vector<int> placeholders = Placeholders(graph);
    const auto position =
        static_cast<size_t>(std::find(placeholders.begin(), placeholders.end(), ref.index) - placeholders.begin());
    const auto& captured = std::get<ir::Arg::List>(loop.args[0].value);
    if (position >= captured.size()) return false;
    const auto* from = std::get_if<NodeRef>(&captured[position].value);
    return from != nullptr && FindHeldLoad(outer, *from, staging);
  }

  // Reports whether one of the nodes up to and including `last` stores.
  bool HasEffectsUpTo(const Graph& graph, int last) const {
    return std::any_of(graph.nodes.begin(), graph.nodes.begin() + last + 1, [this](const Node& node) {
      return node.op == Op::kStore || std::any_of(node.graphs.begin(), node.graphs.end(), [this](int child) {
               return HasEffects(plan_, plan_.GraphFor(child));
             });
    });
  }

  void Analyze(int id) {
    const Graph& graph = plan_.GraphFor(id);
    if (uses_.graphs.contains(graph.id)) return;
    GraphUses uses;
    uses.sets.resize(graph.nodes.size());
    uses.live.assign(graph.nodes.size(), false);
    for (size_t i = graph.nodes.size(); i-- > 0;) Visit(graph, static_cast<int>(i), &uses);
    for (std::vector<int>& sets : uses.sets) std::sort(sets.begin(), sets.end());
    uses_.graphs[graph.id] = std::move(uses);
  }

  void Visit(const Graph& graph, int index, GraphUses* uses) {
    const auto at = static_cast<size_t>(index);
    const Node& node = graph.nodes[at];
    if (node.op == Op::kStore || node.op == Op::kOutput) uses->live[at] = true;
    if (ir::IsControlFlow(node.op)) {
      for (const int child : node.graphs) {
        if (HasEffects(plan_, plan_.GraphFor(child))) uses->live[at] = true;
      }
    }
    if (!uses->sets[at].empty()) uses->live[at] = true;
    if (!uses->live[at]) return;
    if (node.op == Op::kDot) {
      VisitDot(graph, index, uses);
      return;
    }
    for (const int child : node.graphs) Analyze(child);
    if (IsLoop(node)) {
      VisitLoop(graph, node, uses);
      return;
    }
    const bool flows = ir::IsPointwise(node.op) || node.op == Op::kMaskTo || node.op == Op::kLoad;
    const std::vector<int> sets = flows ? uses->sets[at] : std::vector<int>{0};
    for (const NodeRef used : ir::CollectUses(node)) {
      for (const int set : sets) Need(graph, used, set, uses);
    }
  }

  // Needs each captured value in the layout sets in which the loop's body needs it, and everything else in set 0.
  void VisitLoop(const Graph& graph, const Node& loop, GraphUses* uses) {
    const Graph& body = plan_.GraphFor(loop.graphs[0]);
    const std::vector<int> placeholders = Placeholders(body);
    const auto& captured = std::get<ir::Arg::List>(loop.args[0].value);
    for (size_t i = 0; i < captured.size(); ++i) {
      const auto* ref = std::get_if<NodeRef>(&captured[i].value);
      if (ref == nullptr) continue;
      const std::vector<int>& sets = uses_.graphs.at(body.id).sets[static_cast<size_t>(placeholders[i])];
      if (sets.empty()) Need(graph, *ref, 0, uses);
      for (const int set : sets) Need(graph, *ref, set, uses);
    }
    Node rest = loop;
    rest.args[0] = ir::Arg{};
    for (const NodeRef used : ir::CollectUses(rest)) Need(graph, used, 0, uses);
  }

  void VisitDot(const Graph& graph, int index, GraphUses* uses) {
    const Node& node = graph.nodes[static_cast<size_t>(index)];
    std::array<int, 2>& operands = uses->operands[index];
    for (size_t i = 0; i < 2; ++i) {
      const auto& operand = std::get<NodeRef>(node.args[i].value);
      const Node& value = graph.at(operand);
      Staging staging = {.graph = graph.id,
                         .dot = index,
                         .operand = static_cast<int>(i),
                         .axes = value.shape,
                         .load = SoleLoad(graph, operand),
                         .load_graph = graph.id};
      if ((IsSlice(graph, value) && LoadsAnything(graph, value)) ||
          (may_hold_ && FindHeldLoad(graph, operand, &staging))) {
        uses_.stagings.push_back(staging);
        operands[i] = static_cast<int>(uses_.stagings.size());
      }
      Need(graph, operand, operands[i], uses);
    }
    if (node.args.size() > 2) {
      if (const auto* accumulator = std::get_if<NodeRef>(&node.args[2].value)) Need(graph, *accumulator, 0, uses);
    }
  }

  static void Need(const Graph& graph, NodeRef ref, int set, GraphUses* uses) {
    if (graph.at(ref).shape.empty()) set = 0;
    std::vector<int>& sets = uses->sets[static_cast<size_t>(ref.index)];
    if (std::find(sets.begin(), sets.end(), set) == sets.end()) sets.push_back(set);
  }

  const Plan& plan_;
  const bool may_hold_;
  std::map<int, Caller> callers_;  // by id of the child
  Uses uses_;
};

}  // namespace

bool GraphUses::IsNeeded(ir::NodeRef ref, int set) const {
  const std::vector<int>& needed = sets[static_cast<size_t>(ref.index)];
  return std::find(needed.begin(), needed.end(), set) != needed.end();
}

bool HasEffects(const Plan& plan, const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&plan](const Node& node) {
    return node.op == Op::kStore || std::any_of(node.graphs.begin(), node.graphs.end(),
                                                [&plan](int child) { return HasEffects(plan, plan.GraphFor(child)); });
  });
}

Uses AnalyzeUses(const Plan& plan, bool may_hold) { return Analysis(plan, may_hold).Run(); }

}  // namespace telemetry::worker::codegen::plan
