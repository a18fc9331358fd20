#pragma once

#include <string>

#include "worker/ir/graph.h"

namespace telemetry::worker::ir {

// Returns the rule of graph.h that a node breaks, alone or together with the nodes that it uses. Empty if there is
// none. The nodes that it uses must come before it, and its axes must exist (Verify() has checked both). Does not check
// child graphs.
std::string WhatIsWrongWith(const DeviceIr& ir, const Graph& graph, const Node& node);

}  // namespace telemetry::worker::ir
