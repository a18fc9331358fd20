#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proto/record/json.h"
#include "worker/ir/graph.h"
#include "worker/ir/ir_graph_record.h"

namespace telemetry::worker::ir {

// What the record says of one node. Nothing here trusts the IR: an index that leads nowhere gives null.

// With U+FFFD for each byte that is not UTF-8.
std::string ValidUtf8(std::string_view text);
// Free text as a record may hold it: valid UTF-8, capped.
std::string RecordText(std::string_view text);

// The node's name in the record: "g0:exp".
std::string RecordId(const Graph& graph, const Node& node);

// The op's target in the record; "op 99" for one that is not known.
std::string TargetOf(const Node& node);

// The kind's name; "kind 9" for one that this extractor does not know, and `known` is false.
std::string RegionKind(GraphKind kind, bool* known);

// The node that an argument names; nullptr where it names none or one that is not there.
const Node* FindNode(const Graph& graph, const Arg& arg);
const Node* FindNode(const Graph& graph, NodeRef ref);

// What a node gives, as "dtype" and "shape" of nodes and edges say it.
struct ValueFeatures {
  record::Json dtype;
  record::Json shape;
  record::Json concrete_shape;
  record::Json stride;
  record::Json concrete_stride;
  record::Json device;
  record::Json value;
};
ValueFeatures ValueFeaturesOf(const DeviceIr& ir, const Node& node, const IrGraphOptions& options);

// How a node is computed.
struct LoweringFeatures {
  record::Json lowering_class;
  record::Json input_dtypes;
  record::Json input_shapes;
  record::Json reduction_type;
  record::Json reduction_ranges;
  record::Json pointwise_ranges;
};
LoweringFeatures LoweringFeaturesOf(const DeviceIr& ir, const Graph& graph, const Node& node,
                                    const IrGraphOptions& options);

}  // namespace telemetry::worker::ir
