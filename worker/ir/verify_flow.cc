#include "worker/ir/verify_flow.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "worker/ir/args.h"
#include "worker/ir/type_rules.h"

namespace telemetry::worker::ir {
namespace {

using device::DType;

// Returns the results of a graph.
std::vector<const Node*> ResultNodes(const Graph& graph) {
  std::vector<const Node*> results;
  for (NodeRef ref : CollectUses(graph.nodes.back())) results.push_back(&graph.at(ref));
  return results;
}

bool SameTypes(const std::vector<const Node*>& a, const std::vector<const Node*>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Node* x, const Node* y) {
    return x->dtype.has_value() && x->dtype == y->dtype && SameAxes(x->shape, y->shape);
  });
}

bool IsBoolScalar(const Node& node) { return node.dtype == DType::kBool && node.shape.empty(); }

class FlowChecker {
 public:
  FlowChecker(const DeviceIr& ir, const Graph& graph, const Node& node) : ir_(ir), graph_(graph), node_(node) {}

  std::string Check() const { return node_.op == Op::kGetItem ? CheckGetItem() : CheckCall(); }

 private:
  const Graph& GetGraph(int id) const { return ir_.graphs[static_cast<size_t>(id)]; }

  std::string CheckGetItem() const {
    const NodeRef* ref = node_.args.empty() ? nullptr : AsRef(node_.args[0]);
    if (ref == nullptr || !IsControlFlow(graph_.at(*ref).op))
      return "reads a result of a node that is not control flow";
    const std::vector<const Node*> results = ResultNodes(GetGraph(graph_.at(*ref).graphs.back()));
    if (node_.item < 0 || static_cast<size_t>(node_.item) >= results.size()) {
      return "reads a result that does not exist";
    }
    return SameTypes({&node_}, {results[static_cast<size_t>(node_.item)]})
               ? ""
               : "does not have the type of the child graph's result";
  }

  // The values that a control-flow node passes: all arguments, and those of them that are carried.
  struct Passed {
    std::vector<const Node*> arguments;
    std::vector<const Node*> carried;
    bool well_formed = true;
  };

  void Take(size_t arg, bool carried, Passed* passed) const {
    const Arg::List* list = arg < node_.args.size() ? AsList(node_.args[arg]) : nullptr;
    if (list == nullptr) {
      passed->well_formed = false;
      return;
    }
    for (const Arg& item : *list) {
      const NodeRef* ref = AsRef(item);
      if (ref == nullptr) {
        passed->well_formed = false;
        return;
      }
      passed->arguments.push_back(&graph_.at(*ref));
      if (carried) passed->carried.push_back(&graph_.at(*ref));
    }
  }

  std::string CheckCall() const {
    const std::vector<GraphKind> kinds = KindsOfChildren(node_.op);
    if (node_.dtype.has_value()) return "is control flow but has a dtype";
    if (node_.graphs.size() != kinds.size()) return "has a wrong number of child graphs";
    Passed passed;
    const bool loops = node_.op == Op::kForLoop || node_.op == Op::kReductionLoop || node_.op == Op::kWhile;
    Take(node_.op == Op::kIf ? 1 : 0, false, &passed);
    if (loops) Take(1, true, &passed);
    if (!passed.well_formed) return "has no list of arguments";
    for (size_t i = 0; i < kinds.size(); ++i) {
      if (GetGraph(node_.graphs[i]).kind != kinds[i]) return "has a child graph of another kind";
      if (!SameTypes(Placeholders(GetGraph(node_.graphs[i])), passed.arguments)) {
        return "passes values that do not match the child graph's placeholders";
      }
    }
    return CheckResults(passed);
  }

  static std::vector<GraphKind> KindsOfChildren(Op op) {
    switch (op) {
      case Op::kForLoop:
        return {GraphKind::kForLoop};
      case Op::kReductionLoop:
        return {GraphKind::kReductionLoop};
      case Op::kIf:
        return {GraphKind::kIf, GraphKind::kElse};
      case Op::kWhile:
        return {GraphKind::kWhileCondition, GraphKind::kWhileLoop};
      default:
        return {GraphKind::kHelperFunction};
    }
  }

  std::string CheckResults(const Passed& passed) const {
    const std::vector<const Node*> first = ResultNodes(GetGraph(node_.graphs.front()));
    const std::vector<const Node*> last = ResultNodes(GetGraph(node_.graphs.back()));
    if (node_.op == Op::kIf) {
      const NodeRef* condition = AsRef(node_.args[0]);
      if (condition == nullptr || !IsBoolScalar(graph_.at(*condition)))
        return "has a condition that is not a bool scalar";
      return SameTypes(first, last) ? "" : "has branches with results of different types";
    }
    if (node_.op == Op::kCall) return "";
    if (!SameTypes(last, passed.carried)) return "carries values that do not match the results of its body";
    if (node_.op == Op::kWhile) {
      return first.size() == 1 && IsBoolScalar(*first[0]) ? "" : "has a condition that is not a bool scalar";
    }
    const AxisKind kind = node_.op == Op::kForLoop ? AxisKind::kLoop : AxisKind::kReduction;
    if (node_.axis == -1 || ir_.axes[static_cast<size_t>(node_.axis)].kind != kind)
      return "loops along an axis of the wrong kind";
    if (GetGraph(node_.graphs[0]).axes != std::vector<int>{node_.axis}) return "has a body that walks another axis";
    return CheckEnd();
  }

  std::string CheckEnd() const {
    if (node_.args.size() != 3) return "has a wrong number of arguments";
    if (std::holds_alternative<std::monostate>(node_.args[2].value)) return "";
    const NodeRef* end = AsRef(node_.args[2]);
    const bool fits = node_.op == Op::kForLoop && end != nullptr && graph_.at(*end).dtype == DType::kI32 &&
                      graph_.at(*end).shape.empty();
    return fits ? "" : "has an end that is not an i32 scalar";
  }

  const DeviceIr& ir_;
  const Graph& graph_;
  const Node& node_;
};

}  // namespace

std::string WhatIsWrongWithFlow(const DeviceIr& ir, const Graph& graph, const Node& node) {
  return FlowChecker(ir, graph, node).Check();
}

}  // namespace telemetry::worker::ir
