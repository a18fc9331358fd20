#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/record/sidecar/row.h"

namespace telemetry::record::sidecar {

// A row and its dialect, which the width identifies.
struct LineRow {
  Dialect dialect = Dialect::kV11;
  Row row;
};

// Returns the dialect of a header line, or nullopt for another line.
std::optional<Dialect> HeaderDialect(std::string_view line);

// Parses a line without its line end as one row. The width identifies the dialect. `declared` is the last header's
// dialect; it only prevents torn helion rows, which may have the same width, from being read as rows of a sources file.
absl::StatusOr<LineRow> ReadRow(std::string_view line, std::optional<Dialect> declared);

// A part of a line: a header or a row (whichever is set), or, if neither is set, bytes that are not a row.
struct LinePiece {
  size_t begin = 0;
  size_t end = 0;
  std::optional<Dialect> header;
  std::optional<LineRow> row;
  std::string error;
};

// Splits a line that is not one row or header into the complete rows and headers in it and the bytes between them. A
// row may begin at the beginning of the line, at 64 hex digits followed by a comma, and, in dialects whose rows begin
// with a number, after a closing quote or a NUL (a hole in the file). A number after any other byte may begin with the
// digits of a torn one. Only text in exactly the form of a row is accepted as a row.
std::vector<LinePiece> CutLine(std::string_view line, std::optional<Dialect> declared);

}  // namespace telemetry::record::sidecar
