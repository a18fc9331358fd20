#pragma once

#include <optional>
#include <vector>

#include "worker/ir/graph.h"
#include "worker/ir/graph_builder.h"

namespace telemetry::worker::ir {

// The values that a loop carries for a reduction that it computes chunk by chunk. A sum, maximum, minimum or product
// carries its partial result, an argmax the largest value and its position, a dot its accumulator. Keeps a reference to
// the graph, which must outlive this object. For use by one thread.
class CarriedReduction {
 public:
  // `node` is the index of the reduction in `graph`, the graph before rolling.
  CarriedReduction(const Graph& graph, int node) : graph_(graph), node_(node) {}

  int node() const { return node_; }
  // Adds the placeholders of the carried values to the loop's body, and appends their initial values to `initial`. A
  // dot that has an accumulator starts from `accumulator`. Every other reduction starts from its neutral value, which
  // is created in `outside`.
  void Begin(std::optional<NodeRef> accumulator, GraphBuilder* outside, GraphBuilder* body, Arg::List* initial);
  // Returns the value that a dot in the body adds to.
  NodeRef accumulator() const { return parameters_[0]; }
  // Appends the carried values of the next round to `results`. They are computed from the values of this round and from
  // `chunk`, the node in the body that reduces the chunk.
  void Combine(NodeRef chunk, GraphBuilder* body, Arg::List* results) const;
  // Returns the number of carried values. The last one is the result of the reduction.
  int count() const { return static_cast<int>(parameters_.size()); }

 private:
  const Node& reduces() const { return graph_.nodes[static_cast<size_t>(node_)]; }
  NodeRef Neutral(double value, device::DType dtype, GraphBuilder* outside) const;
  void Carry(device::DType dtype, NodeRef from, GraphBuilder* body, Arg::List* initial);
  void CombineArgMax(NodeRef chunk, GraphBuilder* body, Arg::List* results) const;
  NodeRef AddTo(GraphBuilder* body, Op op, std::vector<Arg> args, device::DType dtype) const;

  const Graph& graph_;
  const int node_;
  std::vector<NodeRef> parameters_;  // placeholders in the body
};

}  // namespace telemetry::worker::ir
