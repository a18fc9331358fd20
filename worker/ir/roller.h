#pragma once

#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/ir/graph.h"
#include "worker/ir/graph_builder.h"
#include "worker/ir/roll_plan.h"

namespace telemetry::worker::ir {

// Rolls one axis in a graph and its children (roll.h). For one thread; outlived by the DeviceIr, to which it appends.
class Roller {
 public:
  Roller(DeviceIr* ir, int axis) : ir_(ir), axis_(axis) {}

  // The id of the rolled graph; the graph's own where nothing in it works along the axis. FAILED_PRECONDITION: why not;
  // some graphs may have been appended then.
  absl::StatusOr<int> Roll(int graph);

  // Original to rolled, each graph that was rolled.
  const std::map<int, int>& rolled() const { return rolled_; }

 private:
  DeviceIr* ir_;
  const int axis_;
  std::map<int, int> rolled_;
};

}  // namespace telemetry::worker::ir
