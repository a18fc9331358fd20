#include "worker/ir/dead_nodes.h"

#include <vector>

#include "worker/ir/args.h"

namespace telemetry::worker::ir {

Graph WithoutDeadNodes(const Graph& graph) {
  const int count = static_cast<int>(graph.nodes.size());
  std::vector<bool> alive(graph.nodes.size());
  for (int i = count - 1; i >= 0; --i) {
    const Node& node = graph.nodes[static_cast<size_t>(i)];
    const bool acts = node.op == Op::kStore || node.op == Op::kOutput || node.op == Op::kPlaceholder ||
                      (IsControlFlow(node.op) && node.op != Op::kCall);
    if (acts) alive[static_cast<size_t>(i)] = true;
    if (!alive[static_cast<size_t>(i)]) continue;
    for (NodeRef use : CollectUses(node)) alive[static_cast<size_t>(use.index)] = true;
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

}  // namespace telemetry::worker::ir
