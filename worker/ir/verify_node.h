#pragma once

#include <string>

#include "worker/ir/graph.h"

namespace telemetry::worker::ir {

// What is wrong with a node, by the rules of graph.h that concern it and what it uses; empty: nothing. What it uses
// comes before it, and its axes exist (Verify saw to that). Not what concerns child graphs.
std::string WhatIsWrongWith(const DeviceIr& ir, const Graph& graph, const Node& node);

}  // namespace telemetry::worker::ir
