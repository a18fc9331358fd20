#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/ir/graph.h"
#include "worker/ir/reference/options.h"
#include "worker/ir/reference/tile.h"
#include "worker/ir/reference/tile_memory.h"

namespace telemetry::worker::ir::reference {

// An evaluator of graphs for one tile at a time: the work of Evaluate() in one step of the grid. Keeps
// references to the arguments of the constructor, which must outlive it. For use by one thread.
class Evaluator {
 public:
  using Values = std::vector<TilePtr>;

  Evaluator(const DeviceIr& ir, const Options& options, Tensors* tensors);

  // Returns the ranges of the axes. The caller sets those of the grid; loops and reductions set their own.
  AxisRanges& ranges() { return ranges_; }
  // Returns the results of the graph. Errors name graph and node.
  absl::StatusOr<Values> RunGraph(int graph, const Values& arguments);

 private:
  // The values of the nodes of one graph so far, by index: one value, none, or several (control flow).
  struct Frame {
    const Graph& graph;
    const Values& arguments;
    size_t placeholders = 0;
    std::vector<Values> values;
  };

  absl::StatusOr<Values> RunNode(const Node& node, Frame* frame);
  absl::StatusOr<Values> RunMemory(const Node& node, Frame* frame);
  absl::StatusOr<Values> RunControlFlow(const Node& node, const Frame& frame);
  absl::StatusOr<Values> RunLoop(const Node& node, const Frame& frame);
  absl::StatusOr<Values> RunWhile(const Node& node, const Frame& frame);
  absl::StatusOr<double> ScalarArgument(const Node& node) const;
  TilePtr Generate(const Node& node) const;
  TilePtr Compute(const Node& node, const Frame& frame) const;

  static TilePtr FindOperand(const Arg& arg, const Frame& frame);
  static Values FindOperands(const Arg& list, const Frame& frame);
  std::vector<TileIndex> EvaluateIndices(const Node& node, const Frame& frame) const;

  const DeviceIr& ir_;
  const Options& options_;
  Tensors& tensors_;
  AxisRanges ranges_;
};

}  // namespace telemetry::worker::ir::reference
