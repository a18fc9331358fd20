#pragma once

#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/ir/graph.h"
#include "worker/ir/graph_builder.h"
#include "worker/ir/roll_plan.h"

namespace telemetry::worker::ir {

// A rewriter that rolls one axis in a graph and its child graphs (roll.h). It appends graphs to the DeviceIr, which
// must outlive it. For use by one thread.
class Roller {
 public:
  Roller(DeviceIr* ir, int axis) : ir_(ir), axis_(axis) {}

  // Rolls a graph and returns the id of the new graph, or of the graph itself if nothing in it works along the axis.
  // FAILED_PRECONDITION: the axis cannot be rolled; the message has the reason. Some graphs may have been appended even
  // then.
  absl::StatusOr<int> Roll(int graph);

  // Returns the id of the rolled graph for each graph that was rolled, by the id of the original.
  const std::map<int, int>& rolled() const { return rolled_; }

 private:
  DeviceIr* ir_;
  const int axis_;
  std::map<int, int> rolled_;
};

}  // namespace telemetry::worker::ir
