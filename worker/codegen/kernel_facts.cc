#include "worker/codegen/kernel_facts.h"

#include <algorithm>
#include <bit>

namespace telemetry::worker::codegen {

int64_t PowerOfTwo(int64_t at_least) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(at_least, 1))));
}

bool HasDot(const ir::DeviceIr& ir) {
  return std::any_of(ir.graphs.begin(), ir.graphs.end(), [](const ir::Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [](const ir::Node& node) { return node.op == ir::Op::kDot; });
  });
}

bool ComesFromDot(const ir::Graph& graph, ir::NodeRef ref) {
  const ir::Node& node = graph.at(ref);
  const std::vector<ir::NodeRef> used = ir::CollectUses(node);
  return node.op == ir::Op::kDot ||
         std::any_of(used.begin(), used.end(), [&graph](ir::NodeRef operand) { return ComesFromDot(graph, operand); });
}

bool HasDotOfDot(const ir::DeviceIr& ir) {
  const auto is_dot_of_dot = [](const ir::Graph& graph, const ir::Node& node) {
    if (node.op != ir::Op::kDot) return false;
    return std::any_of(node.args.begin(), node.args.begin() + 2, [&graph](const ir::Arg& operand) {
      return ComesFromDot(graph, std::get<ir::NodeRef>(operand.value));
    });
  };
  return std::any_of(ir.graphs.begin(), ir.graphs.end(), [&](const ir::Graph& graph) {
    const bool loops = graph.kind == ir::GraphKind::kForLoop || graph.kind == ir::GraphKind::kReductionLoop;
    return loops && std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                [&](const ir::Node& node) { return is_dot_of_dot(graph, node); });
  });
}

bool UsesOutsideLoops(const ir::DeviceIr& ir, const std::vector<int>& alternate, int graph, int axis) {
  const ir::Graph& emitted = ir.graphs[static_cast<size_t>(alternate[static_cast<size_t>(graph)])];
  for (const ir::Node& node : emitted.nodes) {
    if (std::find(node.shape.begin(), node.shape.end(), axis) != node.shape.end()) return true;
    if (node.op == ir::Op::kReductionLoop && node.axis == axis) continue;
    for (const int child : node.graphs) {
      if (UsesOutsideLoops(ir, alternate, child, axis)) return true;
    }
  }
  return false;
}

std::vector<int> AlternatesFor(const ir::DeviceIr& ir, const std::vector<bool>& looped) {
  std::vector<int> alternate;
  for (size_t id = 0; id < ir.graphs.size(); ++id) alternate.push_back(static_cast<int>(id));
  std::vector<int64_t> best(ir.graphs.size(), 0);
  for (const ir::RolledReduction& rolled : ir.rolled) {
    const int64_t covered = std::count_if(rolled.axes.begin(), rolled.axes.end(),
                                          [&looped](int axis) { return looped[static_cast<size_t>(axis)]; });
    int64_t& known = best[static_cast<size_t>(rolled.original_graph)];
    if (covered <= known) continue;
    known = covered;
    alternate[static_cast<size_t>(rolled.original_graph)] = rolled.rolled_graph;
  }
  return alternate;
}

bool CanBeLooped(const ir::DeviceIr& ir, int axis) {
  std::vector<bool> looped(ir.axes.size(), false);
  looped[static_cast<size_t>(axis)] = true;
  const std::vector<int> alternate = AlternatesFor(ir, looped);
  return alternate != AlternatesFor(ir, std::vector<bool>(ir.axes.size(), false)) &&
         !UsesOutsideLoops(ir, alternate, ir.root, axis);
}

std::vector<int> ChoosableAxes(const ir::DeviceIr& ir, bool reductions) {
  std::vector<int> axes;
  for (const ir::Axis& axis : ir.axes) {
    if ((axis.kind == ir::AxisKind::kReduction) != reductions) continue;
    if (reductions ? CanBeLooped(ir, axis.id) : axis.fixed_block == 0) axes.push_back(axis.id);
  }
  return axes;
}

}  // namespace telemetry::worker::codegen
