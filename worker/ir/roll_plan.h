#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::ir {

// Which nodes of a graph go into which loop when an axis is rolled (roll.h).
struct RollPlan {
  // Per node of the graph.
  std::vector<bool> contracts;  // reduces along the axis: its result is whole after the loop of its level
  std::vector<bool> chunked;    // its value has the axis, or it stores such a one: lives inside loops only
  std::vector<int> level;
  int levels = 0;

  // What the loop of a level is for: it reduces, or stores.
  bool IsTarget(const Graph& graph, int node, int of_level) const;
};

// FAILED_PRECONDITION says why the axis cannot be rolled in this graph.
absl::StatusOr<RollPlan> PlanRoll(const DeviceIr& ir, const Graph& graph, int axis);

// Whether the graph or one of its children works along the axis.
bool UsesAxis(const DeviceIr& ir, int graph, int axis);

// FAILED_PRECONDITION: a tensor is both read and written, in the graph or its children.
absl::Status CheckReadOrWritten(const DeviceIr& ir, int graph);

}  // namespace telemetry::worker::ir
