#include "worker/ir/roller.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "worker/ir/args.h"
#include "worker/ir/type_rules.h"

namespace telemetry::worker::ir {
namespace {

// What combines the partial results of two chunks.
Op CombinerOf(Op reduction) {
  switch (reduction) {
    case Op::kAMax:
      return Op::kMaximum;
    case Op::kAMin:
      return Op::kMinimum;
    case Op::kProd:
      return Op::kMul;
    default:
      return Op::kAdd;
  }
}

// The graph without the nodes that nothing uses and that do nothing.
Graph WithoutDeadNodes(const Graph& graph) {
  const int count = static_cast<int>(graph.nodes.size());
  std::vector<bool> alive(graph.nodes.size());
  for (int i = count - 1; i >= 0; --i) {
    const Node& node = graph.nodes[static_cast<size_t>(i)];
    const bool acts = node.op == Op::kStore || node.op == Op::kOutput || node.op == Op::kPlaceholder ||
                      (IsControlFlow(node.op) && node.op != Op::kCall);
    if (acts) alive[static_cast<size_t>(i)] = true;
    if (!alive[static_cast<size_t>(i)]) continue;
    for (NodeRef use : UsesOf(node)) alive[static_cast<size_t>(use.index)] = true;
  }
  Graph result{.id = graph.id, .kind = graph.kind, .name = graph.name, .axes = graph.axes};
  std::vector<int> moved(graph.nodes.size(), -1);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!alive[i]) continue;
    moved[i] = static_cast<int>(result.nodes.size());
    result.nodes.push_back(graph.nodes[i]);
    ReplaceRefs([&](NodeRef ref) { return NodeRef{moved[static_cast<size_t>(ref.index)]}; }, &result.nodes.back());
  }
  return result;
}

// Writes one graph anew, with loops over the chunks of an axis.
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
  // What is carried through a loop for one reduction.
  struct Partial {
    int reduction;                    // in the original
    std::vector<NodeRef> parameters;  // placeholders in the body
  };

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
    std::vector<Partial> partials;
    for (int i : targets) {
      if (plan_.contracts[static_cast<size_t>(i)]) partials.push_back(AddPartial(i, &body, &initial));
    }
    Arg::List results;
    size_t next_partial = 0;
    for (int i : needed) {
      const NodeRef copy = CopyInto(i, &body, &inside, partials, next_partial);
      if (!plan_.contracts[static_cast<size_t>(i)]) continue;
      Combine(i, copy, partials[next_partial++], &body, &results);
    }
    const SourceLocation location = node(targets.front()).location;
    ir_->graphs.push_back(body.Finish(std::move(results), location));
    CallLoop(partials, std::move(passed), std::move(initial), location);
  }

  // The targets, and what has the axis and they are computed from; `captured`: what else is.
  std::set<int> NeededBy(const std::vector<int>& targets, std::set<int>* captured) const {
    std::set<int> needed(targets.begin(), targets.end());
    for (int i = count() - 1; i >= 0; --i) {
      if (needed.count(i) == 0) continue;
      std::vector<NodeRef> uses = UsesOf(node(i));
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

  // Makes the initial values outside and the placeholders inside.
  Partial AddPartial(int reduction, GraphBuilder* body, Arg::List* initial) {
    const Node& reduces = node(reduction);
    Partial partial{.reduction = reduction};
    const auto carry = [&](DType dtype, NodeRef from) {
      const std::string name = absl::StrCat("arg", body->graph().nodes.size(), "_1");
      partial.parameters.push_back(body->Add({.name = name,
                                              .op = Op::kPlaceholder,
                                              .dtype = dtype,
                                              .shape = reduces.shape,
                                              .location = reduces.location}));
      initial->push_back(RefArg(from));
    };
    const DType dtype = *reduces.dtype;
    const DType input = *original_.at(*AsRef(reduces.args[0])).dtype;
    if (reduces.op == Op::kDot && reduces.args.size() == 3) {
      carry(dtype, Outer(*AsRef(reduces.args[2])));
    } else if (reduces.op == Op::kArgMax) {
      const DType largest = TypeOfReduction(Op::kAMax, input);
      carry(largest, FullOutside(reduces, NeutralValue(Op::kAMax, input), largest));
      carry(dtype, FullOutside(reduces, 0, dtype));
    } else {
      carry(dtype, FullOutside(reduces, NeutralValue(reduces.op, input), dtype));
    }
    return partial;
  }

  NodeRef FullOutside(const Node& like, double value, DType dtype) {
    if (like.shape.empty()) return outer_.Constant(value, dtype, like.location);
    return outer_.Add(
        {.op = Op::kFull, .dtype = dtype, .shape = like.shape, .value = value, .location = like.location});
  }

  NodeRef CopyInto(int i, GraphBuilder* body, std::map<int, NodeRef>* inside, const std::vector<Partial>& partials,
                   size_t next_partial) {
    Node copy = node(i);
    std::optional<NodeRef> carried;
    if (copy.op == Op::kDot && plan_.contracts[static_cast<size_t>(i)]) {
      copy.args.resize(2);
      carried = partials[next_partial].parameters[0];
    }
    ReplaceRefs(
        [&](NodeRef ref) {
          const auto found = inside->find(ref.index);
          return found != inside->end() ? found->second : body->Remake(original_.at(ref));
        },
        &copy);
    if (carried.has_value()) copy.args.push_back(RefArg(*carried));
    return (*inside)[i] = body->Add(std::move(copy));
  }

  // The carried value of the next chunk, from that of this one and the chunk's own.
  void Combine(int reduction, NodeRef chunk, const Partial& partial, GraphBuilder* body, Arg::List* results) {
    const Node& reduces = node(reduction);
    if (reduces.op == Op::kDot) {
      results->push_back(RefArg(chunk));
      return;
    }
    const auto add = [&](Op op, std::vector<Arg> args, DType dtype) {
      return body->Add(
          {.op = op, .args = std::move(args), .dtype = dtype, .shape = reduces.shape, .location = reduces.location});
    };
    const Arg before = RefArg(partial.parameters[0]);
    if (reduces.op != Op::kArgMax) {
      results->push_back(RefArg(add(CombinerOf(reduces.op), {before, RefArg(chunk)}, *reduces.dtype)));
      return;
    }
    // A later position wins only with a larger value: of equal ones the first counts.
    Node amax = body->graph().at(chunk);
    const DType dtype = *body->graph().at(partial.parameters[0]).dtype;
    const NodeRef largest = body->Add({.op = Op::kAMax,
                                       .args = amax.args,
                                       .dtype = dtype,
                                       .shape = reduces.shape,
                                       .axis = axis_,
                                       .location = reduces.location});
    const NodeRef wins = add(Op::kGt, {RefArg(largest), before}, DType::kBool);
    results->push_back(RefArg(add(Op::kMaximum, {before, RefArg(largest)}, dtype)));
    results->push_back(
        RefArg(add(Op::kWhere, {RefArg(wins), RefArg(chunk), RefArg(partial.parameters[1])}, *reduces.dtype)));
  }

  void CallLoop(const std::vector<Partial>& partials, Arg::List passed, Arg::List initial,
                const SourceLocation& location) {
    const NodeRef loop = outer_.Add({.op = Op::kReductionLoop,
                                     .args = {Arg{std::move(passed)}, Arg{std::move(initial)}, Arg{}},
                                     .axis = axis_,
                                     .graphs = {static_cast<int>(ir_->graphs.size()) - 1},
                                     .location = location});
    int item = 0;
    for (const Partial& partial : partials) {
      item += static_cast<int>(partial.parameters.size());
      const Node& reduces = node(partial.reduction);
      // Of an argmax, the position is the last of what is carried.
      outer_of_[partial.reduction] = outer_.Add({.op = Op::kGetItem,
                                                 .args = {RefArg(loop), NumberArg(int64_t{item} - 1)},
                                                 .dtype = reduces.dtype,
                                                 .shape = reduces.shape,
                                                 .item = item - 1,
                                                 .location = reduces.location});
    }
  }

  DeviceIr* ir_;
  const Graph original_;  // a copy: graphs are appended while it is read
  const RollPlan plan_;
  const int axis_;
  const std::map<int, int>& rolled_;
  GraphBuilder outer_;
  std::map<int, NodeRef> outer_of_;  // a node of the original -> what stands for it outside of the loops
};

}  // namespace

absl::StatusOr<int> Roller::Roll(int graph) {
  if (const auto found = rolled_.find(graph); found != rolled_.end()) return found->second;
  if (!UsesAxis(*ir_, graph, axis_)) return graph;
  const Graph original = ir_->graphs[static_cast<size_t>(graph)];
  absl::StatusOr<RollPlan> plan = PlanRoll(*ir_, original, axis_);
  if (!plan.ok()) return plan.status();
  for (size_t i = 0; i < original.nodes.size(); ++i) {
    if (plan->chunked[i]) continue;  // works on each chunk as it is
    for (int child : original.nodes[i].graphs) {
      const absl::StatusOr<int> rolled = Roll(child);
      if (!rolled.ok()) return rolled.status();
    }
  }
  Graph written = GraphRoller(ir_, original, std::move(*plan), axis_, rolled_).Write();
  written.id = static_cast<int>(ir_->graphs.size());
  ir_->graphs.push_back(std::move(written));
  return rolled_[graph] = static_cast<int>(ir_->graphs.size()) - 1;
}

}  // namespace telemetry::worker::ir
