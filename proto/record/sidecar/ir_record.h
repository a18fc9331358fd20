#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "proto/record/json.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::record::sidecar {

// IR graphs as node-link graphs, in the form that networkx writes and reads. Unknown content is kept: unknown top-level
// keys in IrGraph.extra_json, unknown or mistyped keys of nodes and edges in their extra_json, absent keys in
// `omitted`. When a graph is written back, such keys follow all known keys of their object, in their original order.

// Parses a line of .ir.jsonl. The kind of the graph is "device". Errors as for ParseMetaRecord().
absl::StatusOr<v1::IrGraph> ParseIrRecord(const Json& record);
// Parses the graph object of a helion record; `run_id` is that of the record. Both parsers accept `edges` for `links`
// and the reverse, because versions of networkx differ in this name.
absl::StatusOr<v1::IrGraph> ParseHelionIrGraph(const Json& graph, std::string_view run_id);

// Returns the pr2750 line without the line end. The identity keys are taken from `run`. A graph without schema_version
// is written as version 1.
std::string FormatIrRecord(const v1::IrGraph& graph, const v1::Run& run);
// Returns the ir_graph value of a helion record.
std::string FormatHelionIrGraph(const v1::IrGraph& graph);

}  // namespace telemetry::record::sidecar
