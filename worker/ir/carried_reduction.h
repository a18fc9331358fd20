#pragma once

#include <optional>
#include <vector>

#include "worker/ir/graph.h"
#include "worker/ir/graph_builder.h"

namespace telemetry::worker::ir {

// A reduction that a loop does chunk by chunk: what of it goes from one round to the next. A sum, maximum, minimum or
// product carries its partial result, an argmax the largest value and its position, a dot its accumulator. Keeps
// references to what it is made of; for one thread.
class CarriedReduction {
 public:
  // `graph` holds the reduction as it was before, `node`.
  CarriedReduction(const Graph& graph, int node) : graph_(graph), node_(node) {}

  int node() const { return node_; }
  // Adds the placeholders to the loop's body, and appends what they begin with to `initial`. `accumulator` is the one
  // that a dot adds to, where it has one; what is neutral instead is made in `outside`.
  void Begin(std::optional<NodeRef> accumulator, GraphBuilder* outside, GraphBuilder* body, Arg::List* initial);
  // What a dot in the body adds to.
  NodeRef accumulator() const { return parameters_[0]; }
  // Appends what the next round begins with, from what this one had and `chunk`, the body's own reduction.
  void Combine(NodeRef chunk, GraphBuilder* body, Arg::List* results) const;
  // How many values it carries; the last is the result.
  int count() const { return static_cast<int>(parameters_.size()); }

 private:
  const Node& reduces() const { return graph_.nodes[static_cast<size_t>(node_)]; }
  NodeRef Neutral(double value, DType dtype, GraphBuilder* outside) const;
  void Carry(DType dtype, NodeRef from, GraphBuilder* body, Arg::List* initial);
  void CombineArgMax(NodeRef chunk, GraphBuilder* body, Arg::List* results) const;
  NodeRef AddTo(GraphBuilder* body, Op op, std::vector<Arg> args, DType dtype) const;

  const Graph& graph_;
  const int node_;
  std::vector<NodeRef> parameters_;  // placeholders in the body
};

}  // namespace telemetry::worker::ir
