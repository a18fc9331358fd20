#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace telemetry::record {

// The CSV dialects of FORMATS.md.
enum class Dialect { kV11, kPr2699, kPr2750, kHelion, kHelionSources };

std::string_view DialectName(Dialect dialect);  // "v1.1", "pr2699", "pr2750", "helion", "helion-sources"
// The header line without its line end.
std::string_view DialectHeader(Dialect dialect);
size_t DialectWidth(Dialect dialect);

// One row of any dialect. Fields that the dialect does not have are empty.
struct SidecarRow {
  std::string run_id;
  std::string kernel_id;
  std::string sample_id;
  double timestamp_s = 0;
  std::optional<uint64_t> config_index;  // counts an attempt's rows from 1
  std::optional<uint64_t> config_id;
  int64_t generation = 0;
  std::string status;
  std::optional<double> perf_ms;
  std::optional<double> compile_time_s;
  std::string decorator;
  std::string config_text;
  std::string source_hash;
};

// Reads a row's fields. INVALID_ARGUMENT names the column and what is wrong with it: wrong width, a number that is none,
// NaN or infinite, an id with the wrong form, an empty status, invalid UTF-8. config_id is filled in from the config
// where the dialect lacks it; a config that is no Python literal is an error there, and accepted where the row has its
// id. Where the row has both and they disagree, that is an error too.
absl::StatusOr<SidecarRow> ParseRow(Dialect dialect, const std::vector<std::string>& fields);

// Appends the row as Python's csv.writer writes it, CRLF included.
void AppendRow(Dialect dialect, const SidecarRow& row, std::string* out);

}  // namespace telemetry::record
