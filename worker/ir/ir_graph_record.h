#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "proto/record/json.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::ir {

// The device IR as telemetry keeps it: a line of .ir.jsonl, schema_version 1, which networkx reads as a node-link
// graph.
//
// Nodes. Every node of every graph but the rolled alternates, which repeat what their originals say; what makes them
// different, the reduction loops, is there as graphs of its own. A feature that does not apply is null.
//
// Edges. One per producer and consumer. Data edges come from the arguments; arg_positions are the ordinals of the
// producer's occurrences among all nodes in the flattened arguments (so `mul(x, x)` has one edge, [0, 1]). Region edges
// lead from what a control-flow node passes to the placeholder of a child graph that receives it, arg_positions saying
// which one it is; only in graphs that the root leads to. Reductions become loops only when the code is generated: no
// edge leads into a reduction loop, and graph.rolled_reductions says what it was made of.
//
// Sizes. Symbolic sizes stand as text ("u0" is the block of axis 0) with a value beside them: the hint for blocks that
// a config chooses, the extent rounded up to a power of two for a reduction axis, the size in this binding for a
// tensor.

struct IrGraphOptions {
  std::string run_id;
  std::string kernel_id;
  std::string kernel_name;
  std::string input_shapes;  // "[(4096, 2560)]"
  std::string device;        // where tensors are: "cuda:0"
  int64_t block_size_hint = 64;
  // Hears of what is strange in the IR, once for each thing and call; may be empty.
  std::function<void(const std::string&)> on_warning;
};

// The longest target, value, source location or other free text in a record, in bytes, kTruncated included. A longer
// one is cut at a character and ends in kTruncated.
inline constexpr size_t kMaxTextBytes = 256;
inline constexpr char kTruncated[] = "...<truncated>";

// Never fails, whatever the IR: what cannot be resolved is null or left out, with a warning. The same arguments give
// the same record. ToJson writes it as the line.
record::Json ExtractIrGraph(const DeviceIr& ir, const IrGraphOptions& options);

}  // namespace telemetry::worker::ir
