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

// Reads a row's fields. INVALID_ARGUMENT names the column and what is wrong with it: wrong width, a number that is
// none, NaN or infinite, an id with the wrong form, an empty status, invalid UTF-8, a NUL. config_id is filled in from
// the config where the dialect lacks it; a config that is no Python literal is an error there, and accepted where the
// row has its id and it looks like a whole call. Where the row has both and they disagree, that is an error too.
// kernel_id and sample_id may be empty where run_id names the run (an export leaves empty what it cannot compute).
absl::StatusOr<SidecarRow> ParseRow(Dialect dialect, const std::vector<std::string>& fields);

// Appends the row as Python's csv.writer writes it, CRLF included. Allocates nothing but room in `out`.
void AppendRow(Dialect dialect, const SidecarRow& row, std::string* out);

// The same row in other people's memory, for those who write many: one config stands in many rows, and its text is
// looked through for quotes only once, by CsvField.
struct RowView {
  std::string_view run_id;
  std::string_view kernel_id;
  std::string_view sample_id;
  double timestamp_s = 0;
  std::optional<uint64_t> config_index;
  std::optional<uint64_t> config_id;
  int64_t generation = 0;
  std::string_view status;
  std::optional<double> perf_ms;
  std::optional<double> compile_time_s;
  std::string_view decorator_field;  // as CsvField gave it
  std::string_view config_field;     // as CsvField gave it
  std::string_view source_hash;
};
void AppendRow(Dialect dialect, const RowView& row, std::string* out);

// A text as csv.writer puts it into a row: in quotes, its own quotes doubled, only where it needs them.
std::string CsvField(std::string_view text);

}  // namespace telemetry::record
