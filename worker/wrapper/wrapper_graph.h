#pragma once

#include <string>

#include "telemetry/v1/records.pb.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// Returns a verified plan as a graph record of telemetry: a node-link graph of kind "wrapper", in the form of the
// graphs of torch.fx, which record::sidecar::FormatIrRecord() writes as a line of .wrapper.jsonl. The caller sets the
// identity of the run.
//
// Nodes. There is a placeholder for each input, a call_function for each line other than definitions, comments and the
// borders of subgraphs, and one output. The target is the kind of the line (allocate, free, free_if_not_reused, reuse,
// reinterpret, call_kernel, call_extern, call_extern_allocating, unpack, index_put, scatter, concatenate, if,
// end_if). The lowering_class of
// a call is its kernel, whose definition is in the graph's attribute `kernels`. The value of a call is its scalars, the
// value of a view its offset, the value of an index_put whether it accumulates, the value of a scatter its dimension
// and reduction, with the number if it writes one, the value of a concatenate its dimension, the value of an unpack its
// index in the pack. The id is
// "g0:x" for a line that makes buffer x, and "g0:3:softmax" for line 3 if it makes none. Each subgraph is a graph of
// its own, whose ids begin with "g1:", "g2:", ... The value of an `if` is the list of the graphs that are its branches.
//
// Edges. "data" edges begin at the node that wrote the data that a line reads: the input, the view, or the last call
// that wrote the memory. An `end_if` is the last writer of the memory that the branches write; its data edges begin at
// the `if` and at the last writers in the branches or, for a branch that does not write the memory, before. "memory"
// edges begin at the node that made the memory that a line writes, frees or takes over. arg_positions count arguments,
// then outputs.
v1::IrGraph WrapperGraph(const Plan& plan, const std::string& device);

}  // namespace telemetry::worker::wrapper
