#pragma once

#include <string>

#include "worker/ir/graph.h"

namespace telemetry::worker::ir {

// Returns the rule that a control-flow node or a kGetItem breaks, alone or together with its child graphs. Empty if
// there is none. The form of all graphs must be valid (Verify() has checked it).
std::string WhatIsWrongWithFlow(const DeviceIr& ir, const Graph& graph, const Node& node);

}  // namespace telemetry::worker::ir
