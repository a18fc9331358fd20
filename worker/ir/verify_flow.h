#pragma once

#include <string>

#include "worker/ir/graph.h"

namespace telemetry::worker::ir {

// What is wrong with a control flow node, or with a kGetItem, and how it fits its child graphs; empty: nothing. The
// form of all graphs is right (Verify saw to that).
std::string WhatIsWrongWithFlow(const DeviceIr& ir, const Graph& graph, const Node& node);

}  // namespace telemetry::worker::ir
