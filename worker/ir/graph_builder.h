#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "worker/ir/graph.h"

namespace telemetry::worker::ir {

// A builder of one graph, node by node. It names the nodes. The DeviceIr must outlive it. For use by one thread.
class GraphBuilder {
 public:
  // `graph` is to become ir->graphs[graph.id]. The builder does not write there; the caller stores the finished graph.
  // Nodes that `graph` already has stay as they are.
  GraphBuilder(const DeviceIr* ir, Graph graph);

  const Graph& graph() const { return graph_; }
  Node& at(NodeRef ref) { return graph_.nodes[static_cast<size_t>(ref.index)]; }
  const Node& at(NodeRef ref) const { return graph_.at(ref); }

  // Appends the node. A node without a name gets one derived from its op.
  NodeRef Add(Node node);
  // Returns the node of a tensor, block size, scalar or constant. A graph has each of them once: a second call returns
  // the same node.
  NodeRef HostTensor(int tensor, const SourceLocation& location);
  NodeRef BlockSize(int axis, const SourceLocation& location);
  NodeRef Scalar(int scalar, const SourceLocation& location);
  NodeRef Constant(double value, device::DType dtype, const SourceLocation& location);

  // Returns true if every graph that needs the node has a copy of its own, so that the node is never passed to a graph.
  static bool IsRemade(const Node& node);
  // Returns the copy in this graph of such a node of another graph.
  NodeRef Remake(const Node& node);

  // Returns a unique name as torch.fx does: "exp", then "exp_1". A name that Python reserves begins at "sum_1".
  std::string UniqueName(std::string_view wanted);

  // Appends the output node and returns the graph. Must be the last call, made once.
  Graph Finish(std::vector<Arg> results, const SourceLocation& location);

 private:
  // Returns the first node of the same op for which `same` is true, or adds `node`.
  template <typename Same>
  NodeRef FindOrAdd(Node node, const Same& same);

  const DeviceIr* ir_;
  Graph graph_;
  std::unordered_set<std::string> names_;
};

}  // namespace telemetry::worker::ir
