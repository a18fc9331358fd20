#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "proto/record/json.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::ir {

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

// The identity of the kernel, and the values that the IR does not have.
struct IrGraphOptions {
  std::string run_id;
  std::string kernel_id;
  std::string kernel_name;
  std::string input_shapes;      // "[(4096, 2560)]"
  std::string device;            // the device that holds the tensors: "cuda:0"
  int64_t block_size_hint = 64;  // the recorded value of a block that a config chooses
  // Called with each distinct warning about the IR, once per extraction. May be empty.
  std::function<void(const std::string&)> on_warning;
};

// Maximum length of a target, value, source location or other free text in a record, in bytes, including kTruncated. A
// longer text is cut at the boundary of a character and ends in kTruncated.
inline constexpr size_t kMaxTextBytes = 256;
inline constexpr char kTruncated[] = "...<truncated>";

// Returns the graph record; ToJson() writes it as the line. Never fails, whatever the IR: a reference that cannot be
// resolved is null or left out, with a warning. The same arguments give the same record.
record::Json ExtractIrGraph(const DeviceIr& ir, const IrGraphOptions& options);

}  // namespace telemetry::worker::ir
