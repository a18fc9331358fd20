#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace telemetry::exporter::render {

// The counts of an export's contents.
struct DatasetCounts {
  uint64_t runs = 0;
  uint64_t attempts = 0;
  uint64_t measurements = 0;  // rows written
  uint64_t configs = 0;       // distinct configs that the runs tried or listed
  uint64_t records = 0;       // meta records
  uint64_t ir_graphs = 0;
  // IR graphs that were omitted, by kind. A newer collector may store kinds for which this version has no file.
  std::map<std::string, uint64_t> unknown_ir_graphs;
  uint64_t source_hashes = 0;
  uint64_t trace_lines = 0;
  std::optional<uint64_t> details;  // lines; unset: not requested
  std::map<std::string, uint64_t> measurements_by_status;
};

}  // namespace telemetry::exporter::render
