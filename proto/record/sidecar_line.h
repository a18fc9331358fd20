#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/record/sidecar_row.h"

namespace telemetry::record {

// A row and the dialect that its width tells.
struct LineRow {
  Dialect dialect = Dialect::kV11;
  SidecarRow row;
};

// The dialect whose header the line is.
std::optional<Dialect> HeaderDialect(std::string_view line);

// Reads a line, without its line end, as one row. The width tells the dialect; `declared`, the last header's, only
// keeps torn helion rows, which may be as short, from being read as rows of a sources file.
absl::StatusOr<LineRow> ReadRow(std::string_view line, std::optional<Dialect> declared);

// A stretch of a line: a header or a row (the one that is set), or, with neither, bytes that are no row.
struct LinePiece {
  size_t begin = 0;
  size_t end = 0;
  std::optional<Dialect> header;
  std::optional<LineRow> row;
  std::string error;
};

// Cuts a line that is not one row or header into the whole ones that it holds and what stands between them. A row is
// found where the line begins, at 64 hex digits with a comma behind them, and, where rows begin with a number, behind a
// closing quote or a NUL (a hole in the file): a number that follows anything else may begin with the digits of a torn
// one. Only what is written exactly as a row would be is taken for one.
std::vector<LinePiece> CutLine(std::string_view line, std::optional<Dialect> declared);

}  // namespace telemetry::record
