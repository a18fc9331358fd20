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

namespace telemetry::record::sidecar {

// The meta records of FORMATS.md, which describe a run next to its CSV. Unknown top-level keys are kept in
// Run.extra_json. When a record is written back, they follow all known keys, in their original order.

// A config in a record's list.
struct RecordConfig {
  uint64_t config_id = 0;
  Json config;  // an object; its keys have the record's order
};

// A config in the form in which a record contains it: the text of a JSON object.
struct RecordConfigJson {
  uint64_t config_id = 0;
  std::string json;
};

// A parsed meta record (pr2699 .meta.json, pr2750 or helion line of .meta.jsonl).
struct MetaRecord {
  // The parser computes the missing ones of run_id, kernel_id and settings_signature if it can: pr2699 has no run_id
  // (computed from kernel_id, shapes, dtypes, hardware), helion has no kernel_id (computed from the settings).
  v1::Run run;
  std::optional<v1::IrGraph> ir_graph;  // helion only; kind "device"
  std::vector<RecordConfig> configs;    // helion only; in the record's order
};

// Parses a meta record. The keys identify the dialect: helion has a run_id and no kernel_id, pr2699 a kernel_id and no
// run_id, pr2750 both. A helion record may lack settings, ir_graph and configs. Errors: INVALID_ARGUMENT if the value
// is not an object, a key is missing or mistyped (the message names it), an id has the wrong form, an id does not
// belong to its config, or a key occurs twice in one object; FAILED_PRECONDITION if the ir_graph has a schema_version
// that this program does not know.
absl::StatusOr<MetaRecord> ParseMetaRecord(const Json& record);

// Return a record in Helion's form without the line end. Unset fields are written as "" (helion settings and ir_graph:
// null).
std::string FormatHelionMeta(const v1::Run& run, const v1::IrGraph* ir_graph, const std::vector<RecordConfig>& configs);
// Does the same with configs that are already JSON objects in the form of json.dumps.
std::string FormatHelionMetaOfJson(const v1::Run& run, const v1::IrGraph* ir_graph,
                                   const std::vector<RecordConfigJson>& configs);
std::string FormatPr2750Meta(const v1::Run& run);
std::string FormatPr2699Meta(const v1::Run& run);  // several lines, no final line end

}  // namespace telemetry::record::sidecar
