#pragma once

#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"

namespace telemetry::worker::forward {

// A part of a line of a .jsonl file: a record, or bytes that are not a record.
struct RecordPiece {
  std::string_view text;
  bool is_record = false;
};

// Returns the parts of a damaged line: records torn by a killed job, or records of several processes merged in one
// line. `line` is not itself a record. Tries each position at which a record may begin: the first byte of the line, and
// each occurrence of `start`, such as `{"run_id"`. `is_record` decides about the text from such a position to the
// closing brace.
std::vector<RecordPiece> CutRecords(std::string_view line, std::string_view start,
                                    absl::FunctionRef<bool(std::string_view)> is_record);

// Returns the text without blanks, tabs and carriage returns at its ends.
std::string_view StripBlanks(std::string_view text);

}  // namespace telemetry::worker::forward
