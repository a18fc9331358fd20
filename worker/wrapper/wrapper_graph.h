#pragma once

#include <string>

#include "telemetry/v1/records.pb.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// A verified plan as telemetry keeps it: a node-link graph of kind "wrapper", in the form of torch.fx's graphs, which
// record::FormatIrRecord writes as a line of .wrapper.jsonl. The run's identity is the caller's to fill in.
//
// Nodes. A placeholder for each input, a call_function for each line but definitions and comments, one output. The
// target is the kind of the line (allocate, free, free_if_not_reused, reuse, reinterpret, call_kernel, call_extern,
// call_extern_allocating, unpack); the lowering_class of a call is its kernel, whose definition stands in the graph's
// attribute `kernels`; a call's value are its scalars, a view's value its offset. Ids: "g0:x" for what a line makes,
// "g0:3:softmax" for line 3 where it makes nothing of its own.
//
// Edges. "data" from whatever wrote what a line reads: the input, the view, the last call that wrote that memory.
// "memory" from what a line writes, frees or takes over. arg_positions count arguments, then outputs.
v1::IrGraph WrapperGraph(const Plan& plan, const std::string& device);

}  // namespace telemetry::worker::wrapper
