#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "worker/ir/graph.h"

namespace telemetry::worker::ir {

// Writes one graph, node by node, and gives nodes their names. For one thread; outlived by the DeviceIr.
class GraphBuilder {
 public:
  // A graph that is to be ir->graphs[graph.id]; nothing is written there before the caller does so. Nodes that `graph`
  // has already stay as they are.
  GraphBuilder(const DeviceIr* ir, Graph graph);

  const Graph& graph() const { return graph_; }
  Node& at(NodeRef ref) { return graph_.nodes[static_cast<size_t>(ref.index)]; }
  const Node& at(NodeRef ref) const { return graph_.at(ref); }

  // Appends the node. A node without a name gets one made of its op's.
  NodeRef Add(Node node);
  // Each of these once per graph: a second call gives the node of the first.
  NodeRef HostTensor(int tensor, const SourceLocation& location);
  NodeRef BlockSize(int axis, const SourceLocation& location);
  NodeRef Scalar(int scalar, const SourceLocation& location);
  NodeRef Constant(double value, DType dtype, const SourceLocation& location);

  // Whether a node is made again in each graph that needs it, and never passed to it.
  static bool IsRemade(const Node& node);
  // The node of this graph that is the same thing as such a node of another.
  NodeRef Remake(const Node& node);

  // As torch.fx: "exp", then "exp_1"; a name that Python has taken begins at "sum_1".
  std::string UniqueName(std::string_view wanted);

  // Ends the graph with its output node. Once, at last.
  Graph Finish(std::vector<Arg> results, const SourceLocation& location);

 private:
  // The first node that `same` is true of; else `node` is added.
  template <typename Same>
  NodeRef FindOrAdd(Node node, const Same& same);

  const DeviceIr* ir_;
  Graph graph_;
  std::unordered_set<std::string> names_;
};

}  // namespace telemetry::worker::ir
