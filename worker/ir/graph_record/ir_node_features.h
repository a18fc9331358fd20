#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proto/record/json.h"
#include "worker/ir/graph.h"
#include "worker/ir/graph_record/ir_graph_options.h"

namespace telemetry::worker::ir::graph_record {

// The features of one node in the graph record. No function here trusts the IR: an index out of range gives null.

// Returns the text with U+FFFD in place of each byte that is not valid UTF-8.
std::string ValidUtf8(std::string_view text);
// Returns free text as a record may contain it: valid UTF-8, cut to kMaxTextBytes.
std::string RecordText(std::string_view text);
record::Json RecordString(std::string_view text);  // the same, as a JSON string

// Returns the id of the node in the record: "g0:exp".
std::string RecordId(const Graph& graph, const Node& node);

// Returns the target of the op in the record; "op 99" for an unknown op.
std::string TargetText(const Node& node);

// Returns the name of the kind and sets `known` to true. For a kind that this extractor does not know it returns "kind
// 9" and sets `known` to false.
std::string RegionKind(GraphKind kind, bool* known);

// Returns the node that the argument or reference names, or nullptr if there is no such node.
const Node* FindNode(const Graph& graph, const Arg& arg);
const Node* FindNode(const Graph& graph, NodeRef ref);

// The features of the value of a node. Edges repeat its dtype and shape.
struct ValueFeatures {
  record::Json dtype;
  record::Json shape;
  record::Json concrete_shape;
  record::Json stride;
  record::Json concrete_stride;
  record::Json device;
  record::Json value;
};
ValueFeatures ExtractValueFeatures(const DeviceIr& ir, const Node& node, const IrGraphOptions& options);

// The features of the lowering of a node.
struct LoweringFeatures {
  record::Json lowering_class;
  record::Json input_dtypes;
  record::Json input_shapes;
  record::Json reduction_type;
  record::Json reduction_ranges;
  record::Json pointwise_ranges;
};
LoweringFeatures ExtractLoweringFeatures(const DeviceIr& ir, const Graph& graph, const Node& node,
                                         const IrGraphOptions& options);

}  // namespace telemetry::worker::ir::graph_record
