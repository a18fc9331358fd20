#include "proto/record/sidecar/line.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "proto/base/status_macros.h"
#include "proto/record/sidecar/csv_fields.h"
#include "proto/record/strings.h"

namespace telemetry::record::sidecar {
namespace {

constexpr Dialect kDialects[] = {Dialect::kPr2750, Dialect::kPr2699, Dialect::kHelion, Dialect::kHelionSources,
                                 Dialect::kV11};
constexpr size_t kIdDigits = 64;

std::optional<Dialect> DialectOfWidth(size_t width, std::optional<Dialect> declared) {
  for (const Dialect dialect : kDialects) {
    if (DialectWidth(dialect) != width) continue;
    if (dialect == Dialect::kHelionSources && declared.value_or(dialect) != dialect) return std::nullopt;
    return dialect;
  }
  return std::nullopt;
}

absl::Status WidthError(size_t width, std::optional<Dialect> declared) {
  if (!declared.has_value()) return absl::InvalidArgumentError(Cat(width, " fields; no dialect has that many"));
  return absl::InvalidArgumentError(
      Cat(width, " fields; a ", DialectName(*declared), " row has ", DialectWidth(*declared)));
}

absl::StatusOr<LineRow> RowOfFields(const std::vector<std::string>& fields, std::optional<Dialect> declared) {
  const std::optional<Dialect> dialect = DialectOfWidth(fields.size(), declared);
  if (!dialect.has_value()) return WidthError(fields.size(), declared);
  ASSIGN_OR_RETURN(Row row, ParseRow(*dialect, fields));
  return LineRow{.dialect = *dialect, .row = std::move(row)};
}

bool IsWrittenAs(const LineRow& row, std::string_view text) {
  std::string written;
  AppendRow(row.dialect, row.row, &written);
  return WithoutSuffix(written, "\r\n") == text;
}

bool IsHexDigit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

void AddIds(std::string_view line, std::vector<size_t>* cuts) {
  size_t digits = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] == ',' && digits >= kIdDigits) cuts->push_back(at - kIdDigits);
    digits = IsHexDigit(line[at]) ? digits + 1 : 0;
  }
}

void AddHeaders(std::string_view line, std::vector<size_t>* cuts) {
  for (const Dialect dialect : kDialects) {
    const std::string_view header = DialectHeader(dialect);
    for (size_t at = line.find(header); at != std::string_view::npos; at = line.find(header, at + header.size())) {
      cuts->push_back(at);
    }
  }
}

void AddNumbers(std::string_view line, std::vector<size_t>* cuts) {
  static constexpr std::string_view kBefore("\"\0", 2);
  for (size_t before = line.find_first_of(kBefore); before != std::string_view::npos;
       before = line.find_first_of(kBefore, before + 1)) {
    const size_t at = before + 1;
    if (at < line.size() && absl::ascii_isdigit(static_cast<unsigned char>(line[at]))) cuts->push_back(at);
  }
}

// Returns the offsets at which a row or a header may begin, in order, and the end of the line.
std::vector<size_t> CutPoints(std::string_view line) {
  std::vector<size_t> cuts = {0, line.size()};
  AddIds(line, &cuts);
  AddHeaders(line, &cuts);
  AddNumbers(line, &cuts);
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

std::optional<LinePiece> HeaderAt(std::string_view line, size_t begin) {
  for (const Dialect dialect : kDialects) {
    const std::string_view header = DialectHeader(dialect);
    if (line.substr(begin, header.size()) != header) continue;
    return LinePiece{.begin = begin, .end = begin + header.size(), .header = dialect, .row = {}, .error = {}};
  }
  return std::nullopt;
}

std::optional<LinePiece> RowBetween(std::string_view line, size_t begin, size_t end, std::optional<Dialect> declared) {
  const std::string_view text = line.substr(begin, end - begin);
  absl::StatusOr<LineRow> row = ReadRow(text, declared);
  if (!row.ok() || !IsWrittenAs(*row, text)) return std::nullopt;
  return LinePiece{.begin = begin, .end = end, .header = {}, .row = *std::move(row), .error = {}};
}

// Returns the row that begins at `cuts[which]`. It ends with its quoted config, at the beginning of the next row, or
// with the line.
std::optional<LinePiece> RowAt(std::string_view line, const std::vector<size_t>& cuts, size_t which,
                               std::optional<Dialect> declared) {
  // A pr2750 row contains two ids after its first; the third belongs to the next row.
  constexpr size_t kMostCuts = 3;
  const size_t begin = cuts[which];
  const CsvFields fields = SplitCsv(line.substr(begin), kMostFields);
  if (fields.end == CsvFields::End::kBehindQuote) {
    std::optional<LinePiece> row = RowBetween(line, begin, begin + fields.end_at, declared);
    if (row.has_value()) return row;
  }
  if (fields.end == CsvFields::End::kText) {
    std::optional<LinePiece> row = RowBetween(line, begin, line.size(), declared);
    if (row.has_value()) return row;
  }
  for (size_t next = which + 1; next < cuts.size() && next <= which + kMostCuts; ++next) {
    std::optional<LinePiece> row = RowBetween(line, begin, cuts[next], declared);
    if (row.has_value()) return row;
  }
  return std::nullopt;
}

LinePiece BadPiece(std::string_view line, size_t begin, size_t end, std::optional<Dialect> declared) {
  LinePiece piece = {.begin = begin, .end = end, .header = {}, .row = {}, .error = {}};
  const absl::StatusOr<LineRow> row = ReadRow(line.substr(begin, end - begin), declared);
  piece.error = row.ok() ? "a row merged with others" : std::string(row.status().message());
  return piece;
}

}  // namespace

std::optional<Dialect> HeaderDialect(std::string_view line) {
  for (const Dialect dialect : kDialects) {
    if (line == DialectHeader(dialect)) return dialect;
  }
  return std::nullopt;
}

absl::StatusOr<LineRow> ReadRow(std::string_view line, std::optional<Dialect> declared) {
  const CsvFields fields = SplitCsv(line, kMostFields);
  switch (fields.end) {
    case CsvFields::End::kText:
      return RowOfFields(fields.fields, declared);
    case CsvFields::End::kOpenQuote:
      return absl::InvalidArgumentError("a quoted field has no end");
    case CsvFields::End::kBehindQuote:
      return absl::InvalidArgumentError("unexpected text after a quoted field");
    case CsvFields::End::kUnreadable:
      break;
  }
  return absl::InvalidArgumentError("more fields than any dialect has, or a quote within a field without quotes");
}

std::vector<LinePiece> CutLine(std::string_view line, std::optional<Dialect> declared) {
  std::vector<LinePiece> pieces;
  const std::vector<size_t> cuts = CutPoints(line);
  size_t done = 0;
  for (size_t which = 0; which + 1 < cuts.size(); ++which) {
    if (cuts[which] < done) continue;
    std::optional<LinePiece> piece = HeaderAt(line, cuts[which]);
    if (!piece.has_value()) piece = RowAt(line, cuts, which, declared);
    if (!piece.has_value()) continue;
    if (piece->begin > done) pieces.push_back(BadPiece(line, done, piece->begin, declared));
    if (piece->header.has_value()) declared = piece->header;
    done = piece->end;
    pieces.push_back(*std::move(piece));
  }
  if (done < line.size()) pieces.push_back(BadPiece(line, done, line.size(), declared));
  return pieces;
}

}  // namespace telemetry::record::sidecar
