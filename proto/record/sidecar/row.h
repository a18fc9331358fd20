#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace telemetry::record::sidecar {

// The CSV dialects of FORMATS.md.
enum class Dialect { kV11, kPr2699, kPr2750, kHelion, kHelionSources };

std::string_view DialectName(Dialect dialect);  // "v1.1", "pr2699", "pr2750", "helion", "helion-sources"
// Returns the header line without its line end.
std::string_view DialectHeader(Dialect dialect);
size_t DialectWidth(Dialect dialect);

// A row of any dialect. Fields that the dialect does not have are empty.
struct Row {
  std::string run_id;
  std::string kernel_id;
  std::string sample_id;
  double timestamp_s = 0;
  std::optional<uint64_t> config_index;  // position of the row within its attempt, from 1
  std::optional<uint64_t> config_id;
  int64_t generation = 0;
  std::string status;
  std::optional<double> perf_ms;
  std::optional<double> compile_time_s;
  std::string decorator;
  std::string config_text;
  std::string source_hash;
};

// Parses a row's fields. If the dialect has no config_id, the parser computes it from the config. kernel_id and
// sample_id may be empty if run_id identifies the run (an export leaves an id empty that it cannot compute).
//
// Returns INVALID_ARGUMENT, naming the column and the fault, for a wrong width, a field that is not a number, NaN or an
// infinity, an id with the wrong form, an empty status, invalid UTF-8, a NUL, and a config_id that does not belong to
// the config. A config that is not a Python literal is an error if the dialect has no config_id; otherwise it is
// accepted if it looks like a complete call.
absl::StatusOr<Row> ParseRow(Dialect dialect, const std::vector<std::string>& fields);

// Appends the row as Python's csv.writer writes it, including CRLF. Allocates nothing but space in `out`.
void AppendRow(Dialect dialect, const Row& row, std::string* out);

// A row that refers to the caller's memory, for callers that write many rows. One config occurs in many rows;
// CsvField() searches its text for quotes only once.
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
  std::string_view decorator_field;  // result of CsvField()
  std::string_view config_field;     // result of CsvField()
  std::string_view source_hash;
};
void AppendRow(Dialect dialect, const RowView& row, std::string* out);

// Returns the text as csv.writer writes it: in quotes with its own quotes doubled, but only if it requires quotes.
std::string CsvField(std::string_view text);

}  // namespace telemetry::record::sidecar
