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

// Returns the number of elements along an axis. Symbolic sizes are read from the arrays.
int64_t ActualExtent(const Axis& axis, const Tensors& tensors);

// An evaluator of graphs for one tile at a time: the work of Evaluate() in one step of the grid. Keeps
// references to the arguments of the constructor, which must outlive it. For use by one thread.
class Evaluator {
 public:
  using Values = std::vector<TilePtr>;

  // `stored`: null, or gets the elements that are stored instead of `tensors`, which then does not change.
  Evaluator(const DeviceIr& ir, const Options& options, Tensors* tensors, std::vector<StoredElement>* stored = nullptr);

  // Returns the ranges of the axes. The caller sets those of the grid; loops and reductions set their own.
  AxisRanges& ranges() { return ranges_; }
  // Returns the results of the graph. Errors name graph and node.
  absl::StatusOr<Values> RunGraph(int graph, const Values& arguments);

  // The number of elements of all values so far; a dot counts its products.
  double work() const { return work_; }

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
  absl::Status Store(const Node& node, const Frame& frame);
  absl::StatusOr<Values> RunControlFlow(const Node& node, const Frame& frame);
  absl::StatusOr<Values> RunLoop(const Node& node, const Frame& frame);
  absl::StatusOr<Values> RunWhile(const Node& node, const Frame& frame);
  static double Work(const Node& node, const Tile& value, const Frame& frame);
  absl::StatusOr<double> ScalarArgument(const Node& node) const;
  TilePtr Generate(const Node& node) const;
  TilePtr Compute(const Node& node, const Frame& frame) const;

  static TilePtr FindOperand(const Arg& arg, const Frame& frame);
  static Values FindOperands(const Arg& list, const Frame& frame);
  std::vector<TileIndex> EvaluateIndices(const Node& node, const Frame& frame) const;

  const DeviceIr& ir_;
  const Options& options_;
  Tensors& tensors_;
  std::vector<StoredElement>* const stored_;
  AxisRanges ranges_;
  double work_ = 0;
};

}  // namespace telemetry::worker::ir::reference
