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

class Analysis {
 public:
  explicit Analysis(const Plan& plan) : plan_(plan) {}

  Uses Run() && {
    Analyze(plan_.ir->root);
    return std::move(uses_);
  }

 private:
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
    const bool flows = ir::IsPointwise(node.op) || node.op == Op::kMaskTo || node.op == Op::kLoad;
    const std::vector<int> sets = flows ? uses->sets[at] : std::vector<int>{0};
    for (const NodeRef used : ir::CollectUses(node)) {
      for (const int set : sets) Need(graph, used, set, uses);
    }
    for (const int child : node.graphs) Analyze(child);
  }

  void VisitDot(const Graph& graph, int index, GraphUses* uses) {
    const Node& node = graph.nodes[static_cast<size_t>(index)];
    std::array<int, 2>& operands = uses->operands[index];
    for (size_t i = 0; i < 2; ++i) {
      const auto& operand = std::get<NodeRef>(node.args[i].value);
      const Node& value = graph.at(operand);
      if (IsSlice(graph, value) && LoadsAnything(graph, value)) {
        uses_.stagings.push_back({.graph = graph.id,
                                  .dot = index,
                                  .operand = static_cast<int>(i),
                                  .axes = value.shape,
                                  .load = SoleLoad(graph, operand)});
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
  Uses uses_;
};

}  // namespace

bool HasEffects(const Plan& plan, const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&plan](const Node& node) {
    return node.op == Op::kStore || std::any_of(node.graphs.begin(), node.graphs.end(),
                                                [&plan](int child) { return HasEffects(plan, plan.GraphFor(child)); });
  });
}

Uses AnalyzeUses(const Plan& plan) { return Analysis(plan).Run(); }

}  // namespace telemetry::worker::codegen::plan
