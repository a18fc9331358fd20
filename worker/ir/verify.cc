#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "absl/status/status.h"
#include "proto/record/strings.h"
#include "worker/ir/graph.h"
#include "worker/ir/verify_flow.h"
#include "worker/ir/verify_node.h"

namespace telemetry::worker::ir {
namespace {

using record::Cat;

absl::Status Wrong(const Graph& graph, std::string_view what) {
  return absl::InternalError(Cat("graph ", graph.id, " ", what));
}
absl::Status Wrong(const Graph& graph, const Node& node, std::string_view what) {
  return absl::InternalError(Cat("graph ", graph.id, ", node ", node.name, " ", what));
}

class Verifier {
 public:
  explicit Verifier(const DeviceIr& ir) : ir_(ir) {}

  absl::Status Run() {
    absl::Status status = CheckTables();
    for (size_t i = 0; status.ok() && i < ir_.graphs.size(); ++i) status = CheckForm(ir_.graphs[i], i);
    for (size_t i = 0; status.ok() && i < ir_.graphs.size(); ++i) status = CheckNodes(ir_.graphs[i], false);
    for (size_t i = 0; status.ok() && i < ir_.graphs.size(); ++i) status = CheckNodes(ir_.graphs[i], true);
    if (status.ok()) status = CheckRoot(ir_.root);
    for (size_t i = 0; status.ok() && i < ir_.rolled.size(); ++i) status = CheckRolled(ir_.rolled[i]);
    return status;
  }

 private:
  bool IsGraph(int id) const { return id >= 0 && static_cast<size_t>(id) < ir_.graphs.size(); }
  bool IsAxis(int id) const { return id >= 0 && static_cast<size_t>(id) < ir_.axes.size(); }
  const Graph& GetGraph(int id) const { return ir_.graphs[static_cast<size_t>(id)]; }

  absl::Status CheckTables() const {
    for (size_t i = 0; i < ir_.axes.size(); ++i) {
      if (ir_.axes[i].id != static_cast<int>(i) || ir_.axes[i].fixed_block < 0) {
        return absl::InternalError(Cat("axis ", i, " has a wrong id or a negative fixed block"));
      }
    }
    for (const HostTensor& tensor : ir_.tensors) {
      if (tensor.sizes.size() == tensor.strides.size()) continue;
      return absl::InternalError(Cat("tensor '", tensor.name, "' does not have one stride per size"));
    }
    return IsGraph(ir_.root) ? absl::OkStatus() : absl::InternalError("there is no root graph");
  }

  // Checks that the graph can be read: its end, names, and the references of its nodes.
  absl::Status CheckForm(const Graph& graph, size_t index) const {
    if (graph.id != static_cast<int>(index)) return Wrong(graph, "has an id that differs from its index");
    if (graph.nodes.empty() || graph.nodes.back().op != Op::kOutput) return Wrong(graph, "does not end with an output");
    if (!std::all_of(graph.axes.begin(), graph.axes.end(), [this](int axis) { return IsAxis(axis); })) {
      return Wrong(graph, "walks an axis that does not exist");
    }
    std::unordered_set<std::string> names;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      if (node.name.empty() || !names.insert(node.name).second)
        return Wrong(graph, node, "does not have a unique name");
      if (node.op == Op::kOutput && i + 1 != graph.nodes.size())
        return Wrong(graph, node, "is an output before the end");
      if (node.op == Op::kPlaceholder && i > 0 && graph.nodes[i - 1].op != Op::kPlaceholder) {
        return Wrong(graph, node, "is a placeholder after other nodes");
      }
      const std::string wrong = WhatIsWrongWithForm(node, static_cast<int>(i));
      if (!wrong.empty()) return Wrong(graph, node, wrong);
    }
    return absl::OkStatus();
  }

  std::string WhatIsWrongWithForm(const Node& node, int index) const {
    for (NodeRef use : CollectUses(node)) {
      if (use.index < 0 || use.index >= index) return "uses a node that does not come before it";
    }
    std::set<int> distinct;
    for (int axis : node.shape) {
      if (!IsAxis(axis) || !distinct.insert(axis).second) return "has a shape with an unknown or repeated axis";
    }
    if (node.axis != -1 && !IsAxis(node.axis)) return "works along an axis that does not exist";
    if (!node.dtype.has_value() && !node.shape.empty()) return "has axes but no dtype";
    for (int child : node.graphs) {
      if (!IsGraph(child)) return "has a child graph that does not exist";
    }
    return "";
  }

  // Checks the nodes with control flow, or those without. Control flow comes last, because it depends on the results of
  // the child graphs.
  absl::Status CheckNodes(const Graph& graph, bool flow) const {
    for (const Node& node : graph.nodes) {
      if ((IsControlFlow(node.op) || node.op == Op::kGetItem) != flow) continue;
      const std::string wrong = flow ? WhatIsWrongWithFlow(ir_, graph, node) : WhatIsWrongWith(ir_, graph, node);
      if (!wrong.empty()) return Wrong(graph, node, wrong);
    }
    return absl::OkStatus();
  }

  absl::Status CheckRoot(int id) {
    const Graph& root = GetGraph(id);
    if (root.kind != GraphKind::kRoot) return Wrong(root, "is a root of the wrong kind");
    if (root.nodes[0].op == Op::kPlaceholder || !CollectUses(root.nodes.back()).empty()) {
      return Wrong(root, "is a root with arguments or results");
    }
    return Walk(root);
  }

  absl::Status CheckRolled(const RolledReduction& rolled) {
    if (!IsGraph(rolled.original_graph) || !IsGraph(rolled.rolled_graph)) {
      return absl::InternalError("a rolled reduction names a graph that does not exist");
    }
    const Graph& original = GetGraph(rolled.original_graph);
    const Graph& graph = GetGraph(rolled.rolled_graph);
    if (graph.kind != original.kind) return Wrong(graph, "has another kind than the graph that it is rolled from");
    for (int axis : rolled.axes) {
      if (IsAxis(axis) && ir_.axes[static_cast<size_t>(axis)].kind == AxisKind::kReduction) continue;
      return Wrong(graph, "is rolled along an axis that is not a reduction axis");
    }
    return graph.kind == GraphKind::kRoot ? CheckRoot(rolled.rolled_graph) : absl::OkStatus();
  }

  // Checks the graphs from a root down: axes of loops are only used inside the loops, and no graph calls itself.
  absl::Status Walk(const Graph& graph) {
    if (!open_graphs_.insert(graph.id).second) return Wrong(graph, "calls itself");
    const std::set<int> axes_before = open_axes_;
    open_axes_.insert(graph.axes.begin(), graph.axes.end());
    absl::Status status;
    for (const Node& node : graph.nodes) {
      for (int axis : UsedAxes(node)) {
        const bool loop = IsAxis(axis) && ir_.axes[static_cast<size_t>(axis)].kind == AxisKind::kLoop;
        if (status.ok() && loop && open_axes_.count(axis) == 0) {
          status = Wrong(graph, node, "uses the axis of a loop outside of it");
        }
      }
      for (int child : node.graphs) {
        if (status.ok()) status = Walk(GetGraph(child));
      }
    }
    open_axes_ = axes_before;
    open_graphs_.erase(graph.id);
    return status;
  }

  static std::vector<int> UsedAxes(const Node& node) {
    std::vector<int> axes = node.shape;
    if (node.axis != -1 && node.op != Op::kForLoop) axes.push_back(node.axis);
    return axes;
  }

  const DeviceIr& ir_;
  std::set<int> open_graphs_;
  std::set<int> open_axes_;
};

}  // namespace

absl::Status Verify(const DeviceIr& ir) { return Verifier(ir).Run(); }

}  // namespace telemetry::worker::ir
