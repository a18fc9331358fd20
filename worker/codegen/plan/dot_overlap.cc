#include "worker/codegen/plan/dot_overlap.h"

#include <algorithm>

namespace telemetry::worker::codegen::plan {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeRef;
using ir::Op;

// Returns the node whose registers hold the value: conversions and masks may leave a value in the registers of their
// argument.
int Origin(const Graph& graph, int index) {
  const Node& node = graph.nodes[static_cast<size_t>(index)];
  if (node.op != Op::kConvert && node.op != Op::kMaskTo) return index;
  const auto* from = std::get_if<NodeRef>(&node.args[0].value);
  return from == nullptr ? index : Origin(graph, from->index);
}

// The search for an overlap in one loop body.
class Search {
 public:
  Search(const Uses& uses, const MmaPlan& mma, const std::vector<std::optional<SharedCopy>>& copies,
         const LayoutSet& main, const Graph& body)
      : uses_(uses.graphs.at(body.id)), mma_(mma), copies_(copies), main_(main), body_(body) {}

  std::optional<DotOverlap> Run() const {
    std::vector<int> dots;
    std::vector<int> placeholders;
    for (size_t i = 0; i < body_.nodes.size(); ++i) {
      const Node& node = body_.nodes[i];
      if (node.op == Op::kPlaceholder) placeholders.push_back(static_cast<int>(i));
      if (!uses_.live[i] || node.op == Op::kOutput) continue;
      if (ir::IsControlFlow(node.op) || node.op == Op::kStore) return std::nullopt;
      if (node.op == Op::kDot) dots.push_back(static_cast<int>(i));
      if (dots.size() == 2 && node.op != Op::kDot) return std::nullopt;  // an operation after the second dot
    }
    if (dots.size() != 2 || body_.nodes.back().op != Op::kOutput) return std::nullopt;
    DotOverlap overlap = {.first = dots[0], .second = dots[1]};
    const auto& outputs = std::get<ir::Arg::List>(body_.nodes.back().args[0].value);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto* ref = std::get_if<NodeRef>(&outputs[i].value);
      if (ref == nullptr) continue;
      if (Origin(body_, ref->index) == overlap.first) return std::nullopt;
      if (Origin(body_, ref->index) != overlap.second) continue;
      if (overlap.carried >= 0 || ref->index != overlap.second) return std::nullopt;
      overlap.carried = static_cast<int>(i);
    }
    if (overlap.carried < 0) return std::nullopt;
    overlap.placeholder = placeholders[placeholders.size() - outputs.size() + static_cast<size_t>(overlap.carried)];
    return Suits(overlap) ? std::optional(overlap) : std::nullopt;
  }

 private:
  // Returns the layout set of the operand of a dot that has the rows, or the columns.
  int Set(int dot, bool rows) const {
    const int row_operand = mma_.dots.at({body_.id, dot}).row_operand;
    return uses_.operands.at(dot)[static_cast<size_t>(rows ? row_operand : 1 - row_operand)];
  }
  bool IsPrefetched(int set) const {
    const std::optional<SharedCopy>& copy = copies_[static_cast<size_t>(set)];
    return copy && copy->may_run_ahead;
  }
  bool IsHeld(int set) const {
    const std::optional<SharedCopy>& copy = copies_[static_cast<size_t>(set)];
    return copy && copy->is_held();
  }

  bool Suits(const DotOverlap& overlap) const {
    const Node& first = body_.nodes[static_cast<size_t>(overlap.first)];
    const Node& second = body_.nodes[static_cast<size_t>(overlap.second)];
    if (!mma_.dots.contains({body_.id, overlap.first}) || !mma_.dots.contains({body_.id, overlap.second})) return false;
    for (const bool rows : {false, true}) {
      const int set = Set(overlap.first, rows);
      if (!IsPrefetched(set) && !IsHeld(set)) return false;
    }
    return !ir::HasArgument(first, 2) && ir::HasArgument(second, 2) && Set(overlap.second, true) == 0 &&
           IsPrefetched(Set(overlap.second, false)) && RowsStayInRegisters(mma_, main_, second.axis) &&
           !UsesTooEarly(overlap);
  }

  // Reports whether a node before the first dot, or the output, uses the carried value.
  bool UsesTooEarly(const DotOverlap& overlap) const {
    for (size_t i = 0; i < body_.nodes.size(); ++i) {
      const Node& node = body_.nodes[i];
      if (!uses_.live[i] || (static_cast<int>(i) > overlap.first && node.op != Op::kOutput)) continue;
      for (const NodeRef used : ir::CollectUses(node)) {
        if (Origin(body_, used.index) == overlap.placeholder) return true;
      }
    }
    return false;
  }

  const GraphUses& uses_;
  const MmaPlan& mma_;
  const std::vector<std::optional<SharedCopy>>& copies_;
  const LayoutSet& main_;
  const Graph& body_;
};

}  // namespace

std::map<int, DotOverlap> PlanOverlaps(const Plan& plan, const Uses& uses, const MmaPlan& mma,
                                       const std::vector<std::optional<SharedCopy>>& copies, const LayoutSet& main) {
  std::map<int, DotOverlap> overlaps;
  if (!plan.overlap_dots || plan.stages == 1 || !mma.by_warpgroups) return overlaps;
  for (const auto& [id, graph_uses] : uses.graphs) {
    const Graph& graph = plan.ir->graphs[static_cast<size_t>(id)];
    if (graph.kind != ir::GraphKind::kForLoop && graph.kind != ir::GraphKind::kReductionLoop) continue;
    if (const std::optional<DotOverlap> overlap = Search(uses, mma, copies, main, graph).Run()) {
      overlaps[id] = *overlap;
    }
  }
  return overlaps;
}

}  // namespace telemetry::worker::codegen::plan
