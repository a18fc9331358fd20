#pragma once

#include <set>
#include <vector>

#include "proto/record/json.h"
#include "worker/ir/graph.h"
#include "worker/ir/ir_graph_record.h"
#include "worker/ir/ir_graph_warnings.h"

namespace telemetry::worker::ir {

// The graphs that the root leads to through control flow, itself included.
std::set<int> LiveGraphs(const DeviceIr& ir);

// The edges that end at a node (data) and, where its graph is live, those that begin a child graph it runs (region), in
// the order of the arguments, appended to `links`. What leads nowhere is left out with a warning.
void AppendEdges(const DeviceIr& ir, const Graph& graph, const Node& node, bool is_live, const IrGraphOptions& options,
                 IrGraphWarnings* warnings, std::vector<record::Json>* links);

}  // namespace telemetry::worker::ir
