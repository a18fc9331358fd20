#pragma once

#include "worker/ir/graph.h"

namespace telemetry::worker::ir {

// The graph without the nodes that nothing uses and that do nothing. Placeholders stay.
Graph WithoutDeadNodes(const Graph& graph);

}  // namespace telemetry::worker::ir
