#pragma once

#include "worker/ir/graph.h"

namespace telemetry::worker::ir {

// Returns the graph without the nodes that no other node uses and that have no effect. Placeholders stay.
Graph WithoutDeadNodes(const Graph& graph);

}  // namespace telemetry::worker::ir
