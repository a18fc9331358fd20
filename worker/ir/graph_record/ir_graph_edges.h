#pragma once

#include <set>
#include <vector>

#include "proto/record/json.h"
#include "worker/ir/graph.h"
#include "worker/ir/graph_record/ir_graph_options.h"
#include "worker/ir/graph_record/ir_graph_warnings.h"

namespace telemetry::worker::ir::graph_record {

// Returns the graphs that the root reaches through control flow, including the root.
std::set<int> LiveGraphs(const DeviceIr& ir);

// Appends the edges of a node to `links`, in the order of the arguments: the data edges that end at the node and, if
// its graph is live, the region edges into the child graphs that it runs. An edge from or to a missing node is left out
// with a warning.
void AppendEdges(const DeviceIr& ir, const Graph& graph, const Node& node, bool is_live, const IrGraphOptions& options,
                 IrGraphWarnings* warnings, std::vector<record::Json>* links);

}  // namespace telemetry::worker::ir::graph_record
