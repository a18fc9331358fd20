#pragma once

#include "proto/record/json.h"
#include "worker/ir/graph.h"
#include "worker/ir/graph_record/ir_graph_options.h"

namespace telemetry::worker::ir::graph_record {

// The device IR as a graph record of telemetry: a line of .ir.jsonl, schema_version 1, which networkx reads as a
// node-link graph.
//
// Nodes. The record has every node of every graph except the rolled alternates, which repeat their originals. The
// reduction loops, in which an alternate differs from its original, are recorded as graphs of their own. A feature that
// does not apply is null.
//
// Edges. There is one edge per producer and consumer. Data edges come from the arguments; arg_positions are the
// ordinals of the producer's occurrences among all nodes in the flattened arguments (so `mul(x, x)` has one edge, [0,
// 1]). Region edges lead from a value that a control-flow node passes to the placeholder of a child graph that receives
// it; arg_positions are the ordinals of the placeholder. Only graphs that the root reaches have region edges.
// Reductions become loops only when the code is generated: no edge leads into a reduction loop, and
// graph.rolled_reductions names the graph and the axes that were rolled.
//
// Sizes. Symbolic sizes are text ("u0" is the block of axis 0) with a value beside them: the hint for a block that a
// config chooses, the extent rounded up to a power of two for a reduction axis, the size in this binding for a tensor.

// Returns the graph record; ToJson() writes it as the line. Never fails, whatever the IR: a reference that cannot be
// resolved is null or left out, with a warning. The same arguments give the same record.
record::Json ExtractIrGraph(const DeviceIr& ir, const IrGraphOptions& options);

}  // namespace telemetry::worker::ir::graph_record
