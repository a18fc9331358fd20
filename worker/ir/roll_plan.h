#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::ir {

// The assignment of the nodes of a graph to loops when an axis is rolled (roll.h).
struct RollPlan {
  // Per node of the graph.
  std::vector<bool> contracts;  // reduces along the axis: its result is complete after the loop of its level
  std::vector<bool> chunked;    // its value has the axis, or it stores such a value: only in loops
  std::vector<int> level;
  int levels = 0;

  // Returns true if the loop of that level has to execute the node: the node reduces along the axis, or it stores.
  bool IsTarget(const Graph& graph, int node, int of_level) const;
};

// Returns the plan for an axis. FAILED_PRECONDITION: the axis cannot be rolled in this graph; the message has the
// reason.
absl::StatusOr<RollPlan> PlanRoll(const DeviceIr& ir, const Graph& graph, int axis);

// Returns true if the graph or one of its child graphs works along the axis.
bool UsesAxis(const DeviceIr& ir, int graph, int axis);

// Returns FAILED_PRECONDITION if the graph or its child graphs both read and write a tensor.
absl::Status CheckReadOrWritten(const DeviceIr& ir, int graph);

}  // namespace telemetry::worker::ir
