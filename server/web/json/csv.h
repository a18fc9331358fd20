#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "proto/record/json.h"

namespace telemetry::web::json {

// Converts lists of JSON objects to CSV (RFC 4180). The members of the first object are the columns. An object with a
// `label` becomes its label; other objects and arrays become their JSON text. An object whose arrays have one length (a
// series) becomes a line for each position. A cell that a spreadsheet would run as a formula begins with an apostrophe.
class CsvWriter {
 public:
  // Appends to `out`, which must outlive the writer. `has_header`: the names of the columns have been written.
  explicit CsvWriter(std::string* out, bool has_header = false) : out_(*out), has_header_(has_header) {}

  // Appends the objects of an array, or the lines of an object of columns.
  void Append(const record::Json& list);

 private:
  void AppendObject(const record::Json& object);
  void AppendLine(const record::Json& object, size_t position);
  void AppendHeader(const record::Json& object);
  void AppendCell(std::string_view text, bool is_text);

  std::string& out_;
  bool has_header_;
};

}  // namespace telemetry::web::json
