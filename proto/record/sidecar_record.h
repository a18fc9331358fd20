#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/record/json.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::record {

// The identity records beside the CSVs. What a reader does not know comes through: unknown top-level keys travel in
// Run.extra_json and IrGraph.extra_json, unknown or unexpectedly typed keys of nodes and edges in theirs, absent ones
// in `omitted`. Written back, such keys stand behind all known ones of their object, in the order in which they came.

// A config as a record lists it.
struct RecordConfig {
  uint64_t config_id = 0;
  Json config;  // an object, keys in the record's order
};

// One meta record (pr2699 .meta.json, pr2750 or helion line of .meta.jsonl) taken apart.
struct MetaRecord {
  // run_id, kernel_id and settings_signature are filled in where they can be computed: pr2699 has no run_id (computed
  // from kernel_id, shapes, dtypes, hardware), helion no kernel_id (computed from the settings).
  v1::Run run;
  std::optional<v1::IrGraph> ir_graph;  // helion; kind "device"
  std::vector<RecordConfig> configs;    // helion; in the record's order
};

// The keys tell the dialect: helion has a run_id and no kernel_id, pr2699 a kernel_id and no run_id, pr2750 both. A
// helion record's settings, ir_graph and configs may be absent.
// INVALID_ARGUMENT: not an object, a missing or mistyped key (named), an id with the wrong form, a config that is not
// the one its id names, a key that stands twice in one object.
// FAILED_PRECONDITION: the ir_graph inside has a schema_version that this program does not know.
absl::StatusOr<MetaRecord> ParseMetaRecord(const Json& record);

// As Helion writes them; the line end is not included. Unset fields are written as "" (helion settings and ir_graph:
// null).
std::string FormatHelionMeta(const v1::Run& run, const v1::IrGraph* ir_graph, const std::vector<RecordConfig>& configs);
std::string FormatPr2750Meta(const v1::Run& run);
std::string FormatPr2699Meta(const v1::Run& run);  // several lines, no final line end

// A line of .ir.jsonl. INVALID_ARGUMENT / FAILED_PRECONDITION as above. kind is "device".
absl::StatusOr<v1::IrGraph> ParseIrRecord(const Json& record);
// The graph object of a helion record: run_id is the record's. Both take `edges` for `links` and the reverse, which is
// where versions of networkx differ.
absl::StatusOr<v1::IrGraph> ParseHelionIrGraph(const Json& graph, std::string_view run_id);

// The pr2750 line (no line end). Identity keys come from `run`; a graph without schema_version is written as version 1.
std::string FormatIrRecord(const v1::IrGraph& graph, const v1::Run& run);
// The helion ir_graph value.
std::string FormatHelionIrGraph(const v1::IrGraph& graph);

}  // namespace telemetry::record
