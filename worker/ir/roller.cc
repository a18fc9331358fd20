#include "worker/ir/roller.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/status_macros.h"
#include "worker/ir/args.h"
#include "worker/ir/carried_reduction.h"
#include "worker/ir/dead_nodes.h"

namespace telemetry::worker::ir {
namespace {

// A writer of the rolled form of one graph, with loops over the chunks of an axis.
class GraphRoller {
 public:
  GraphRoller(DeviceIr* ir, const Graph& original, RollPlan plan, int axis, const std::map<int, int>& rolled)
      : ir_(ir),
        original_(original),
        plan_(std::move(plan)),
        axis_(axis),
        rolled_(rolled),
        outer_(ir, Graph{.kind = original.kind, .name = original.name, .axes = original.axes}) {}

  Graph Write() {
    for (int level = 0; level < plan_.levels; ++level) {
      for (int i = 0; i < count(); ++i) {
        const auto n = static_cast<size_t>(i);
        if (plan_.level[n] == level && !plan_.chunked[n] && !plan_.contracts[n] && node(i).op != Op::kOutput) Keep(i);
      }
      WriteLoop(level);
    }
    Node output = original_.nodes.back();
    ReplaceRefs([&](NodeRef ref) { return Outer(ref); }, &output);
    outer_.Add(std::move(output));
    return WithoutDeadNodes(outer_.graph());
  }

 private:
  int count() const { return static_cast<int>(original_.nodes.size()); }
  const Node& node(int i) const { return original_.nodes[static_cast<size_t>(i)]; }
  NodeRef Outer(NodeRef original) const { return outer_of_.at(original.index); }

  void Keep(int i) {
    Node kept = node(i);
    ReplaceRefs([&](NodeRef ref) { return Outer(ref); }, &kept);
    for (int& child : kept.graphs) {
      const auto found = rolled_.find(child);
      if (found != rolled_.end()) child = found->second;
    }
    outer_of_[i] = outer_.Add(std::move(kept));
  }

  void WriteLoop(int level) {
    std::vector<int> targets;
    for (int i = 0; i < count(); ++i) {
      if (plan_.IsTarget(original_, i, level)) targets.push_back(i);
    }
    if (targets.empty()) return;
    std::set<int> captured;
    const std::set<int> needed = NeededBy(targets, &captured);

    GraphBuilder body(
        ir_, Graph{.id = static_cast<int>(ir_->graphs.size()), .kind = GraphKind::kReductionLoop, .axes = {axis_}});
    std::map<int, NodeRef> inside;
    Arg::List passed;
    for (int i : captured) {
      const Node& source = node(i);
      inside[i] = body.Add({.name = source.name,
                            .op = Op::kPlaceholder,
                            .dtype = source.dtype,
                            .shape = source.shape,
                            .location = source.location});
      passed.push_back(RefArg(Outer(NodeRef{i})));
    }
    Arg::List initial;
    std::map<int, CarriedReduction> carried;
    for (int i : targets) {
      if (!plan_.contracts[static_cast<size_t>(i)]) continue;
      carried.emplace(i, CarriedReduction(original_, i)).first->second.Begin(Accumulator(i), &outer_, &body, &initial);
    }
    Arg::List results;
    for (int i : needed) {
      const auto reduction = carried.find(i);
      if (reduction == carried.end()) {
        CopyInto(i, std::nullopt, &body, &inside);
        continue;
      }
      const NodeRef chunk = CopyInto(i, reduction->second.accumulator(), &body, &inside);
      reduction->second.Combine(chunk, &body, &results);
    }
    const SourceLocation location = node(targets.front()).location;
    ir_->graphs.push_back(body.Finish(std::move(results), location));
    CallLoop(carried, std::move(passed), std::move(initial), location);
  }

  // Returns the value outside of the loops that a dot adds to.
  std::optional<NodeRef> Accumulator(int i) const {
    if (node(i).op != Op::kDot || node(i).args.size() != 3) return std::nullopt;
    return Outer(*AsRef(node(i).args[2]));
  }

  // Returns the targets and every node with this axis that they depend on. Adds the other nodes that they depend on to
  // `captured`.
  std::set<int> NeededBy(const std::vector<int>& targets, std::set<int>* captured) const {
    std::set<int> needed(targets.begin(), targets.end());
    for (int i = count() - 1; i >= 0; --i) {
      if (needed.count(i) == 0) continue;
      std::vector<NodeRef> uses = CollectUses(node(i));
      if (node(i).op == Op::kDot && plan_.contracts[static_cast<size_t>(i)])
        uses.resize(2);  // the accumulator is carried
      for (NodeRef use : uses) {
        if (plan_.chunked[static_cast<size_t>(use.index)]) {
          needed.insert(use.index);
        } else if (!GraphBuilder::IsRemade(original_.at(use))) {
          captured->insert(use.index);
        }
      }
    }
    return needed;
  }

  // Copies a node into the body of a loop. A copied dot adds to the carried accumulator.
  NodeRef CopyInto(int i, std::optional<NodeRef> accumulator, GraphBuilder* body, std::map<int, NodeRef>* inside) {
    Node copy = node(i);
    const bool accumulates = copy.op == Op::kDot && accumulator.has_value();
    if (accumulates) copy.args.resize(2);
    ReplaceRefs(
        [&](NodeRef ref) {
          const auto found = inside->find(ref.index);
          return found != inside->end() ? found->second : body->Remake(original_.at(ref));
        },
        &copy);
    if (accumulates) copy.args.push_back(RefArg(*accumulator));
    return (*inside)[i] = body->Add(std::move(copy));
  }

  void CallLoop(const std::map<int, CarriedReduction>& carried, Arg::List passed, Arg::List initial,
                const SourceLocation& location) {
    const NodeRef loop = outer_.Add({.op = Op::kReductionLoop,
                                     .args = {Arg{std::move(passed)}, Arg{std::move(initial)}, Arg{}},
                                     .axis = axis_,
                                     .graphs = {static_cast<int>(ir_->graphs.size()) - 1},
                                     .location = location});
    int item = 0;
    for (const auto& [i, reduction] : carried) {
      item += reduction.count();
      const Node& reduces = node(i);
      outer_of_[i] = outer_.Add({.op = Op::kGetItem,
                                 .args = {RefArg(loop), NumberArg(int64_t{item} - 1)},
                                 .dtype = reduces.dtype,
                                 .shape = reduces.shape,
                                 .item = item - 1,
                                 .location = reduces.location});
    }
  }

  DeviceIr* ir_;
  const Graph original_;  // a copy, because appending graphs to the IR moves the original
  const RollPlan plan_;
  const int axis_;
  const std::map<int, int>& rolled_;
  GraphBuilder outer_;
  std::map<int, NodeRef> outer_of_;  // a node of the original -> the node for it outside of the loops
};

}  // namespace

absl::StatusOr<int> Roller::Roll(int graph) {
  if (const auto found = rolled_.find(graph); found != rolled_.end()) return found->second;
  if (!UsesAxis(*ir_, graph, axis_)) return graph;
  const Graph original = ir_->graphs[static_cast<size_t>(graph)];
  ASSIGN_OR_RETURN(RollPlan plan, PlanRoll(*ir_, original, axis_));
  for (size_t i = 0; i < original.nodes.size(); ++i) {
    if (plan.chunked[i]) continue;  // works on each chunk without changes
    for (int child : original.nodes[i].graphs) {
      RETURN_IF_ERROR(Roll(child).status());
    }
  }
  Graph written = GraphRoller(ir_, original, std::move(plan), axis_, rolled_).Write();
  written.id = static_cast<int>(ir_->graphs.size());
  ir_->graphs.push_back(std::move(written));
  return rolled_[graph] = static_cast<int>(ir_->graphs.size()) - 1;
}

}  // namespace telemetry::worker::ir
