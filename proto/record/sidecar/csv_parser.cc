#include "proto/record/sidecar/csv_parser.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "proto/record/sidecar/csv_fields.h"
#include "proto/record/sidecar/line.h"
#include "proto/record/strings.h"

namespace telemetry::record::sidecar {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool IsHeaderOrRow(std::string_view line, std::optional<Dialect> declared) {
  return HeaderDialect(line).has_value() || ReadRow(line, declared).ok();
}

// Returns true for a digest of full length or of a usual shorter length.
bool HasUsualHashLength(const Row& row) {
  constexpr size_t kLengths[] = {8, 16, 32, 40, 64, 96, 128};
  return std::find(std::begin(kLengths), std::end(kLengths), row.source_hash.size()) != std::end(kLengths);
}

}  // namespace

void CsvParser::Feed(std::string_view bytes, std::vector<Item>* items) {
  pending_.append(bytes);
  const bool may_end_a_record = bytes.find('\n') != std::string_view::npos || pending_.size() >= kMostLineBytes;
  if (may_end_a_record) Drain(items);
}

void CsvParser::Finish(std::vector<Item>* items) {
  complete_ = true;
  Drain(items);
}

void CsvParser::Drain(std::vector<Item>* items) {
  size_t done = 0;
  while (done < pending_.size()) {
    const std::string_view rest = std::string_view(pending_).substr(done);
    const size_t length = TakeRecord(rest, items);
    if (length == 0) break;
    line_ += static_cast<uint64_t>(std::count(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(length), '\n'));
    offset_ += length;
    done += length;
  }
  pending_.erase(0, done);
}

size_t CsvParser::LineEnd(std::string_view rest, size_t from) const {
  const size_t end = rest.find('\n', from);
  return end == std::string_view::npos && complete_ ? rest.size() : end;
}

size_t CsvParser::TakeRecord(std::string_view rest, std::vector<Item>* items) {
  if (open_lines_end_ > 0) return TakeOpenRecord(rest, rest.find('\n'), items);
  if (offset_ == 0 && rest.starts_with(kByteOrderMark)) return kByteOrderMark.size();
  const size_t end = LineEnd(rest, 0);
  if (std::min(end, rest.size()) >= kMostLineBytes) return TakeLongLine(rest, items);
  if (end == std::string_view::npos) return 0;

  const size_t length = std::min(end + 1, rest.size());
  const std::string_view line = WithoutSuffix(rest.substr(0, end), "\r");
  if (std::exchange(in_long_line_, false)) {
    AddPieces(line, items);
    return length;
  }
  if (line.empty()) return length;
  if (const std::optional<Dialect> header = HeaderDialect(line); header.has_value()) {
    AddHeader(*header, offset_, items);
    return length;
  }
  absl::StatusOr<LineRow> row = ReadRow(line, dialect_);
  if (!row.ok()) {
    if (SplitCsv(line, kMostFields).end == CsvFields::End::kOpenQuote) return TakeOpenRecord(rest, end, items);
    AddPieces(line, items);
    return length;
  }
  const bool line_has_no_end = end == rest.size();
  if (line_has_no_end && row->dialect == Dialect::kHelionSources && !HasUsualHashLength(row->row)) {
    AddBad(line, "source_hash: may be truncated", offset_, items);
  } else {
    AddRow(row->dialect, std::move(row->row), offset_, items);
  }
  return length;
}

size_t CsvParser::TakeOpenRecord(std::string_view rest, size_t first_end, std::vector<Item>* items) {
  const std::string_view first_line = WithoutSuffix(rest.substr(0, first_end), "\r");
  const size_t first_length = std::min(first_end + 1, rest.size());
  size_t at = std::exchange(open_lines_end_, 0);
  if (at == 0) at = first_length;
  while (at < rest.size() || !complete_) {
    const size_t end = LineEnd(rest, at);
    if (std::min(end, rest.size()) >= kMostLineBytes) break;
    if (end == std::string_view::npos) {
      open_lines_end_ = at;
      return 0;
    }
    const std::string_view line = WithoutSuffix(rest.substr(at, end - at), "\r");
    if (IsHeaderOrRow(line, dialect_)) break;
    if (FindClosingQuote(line) != std::string_view::npos) {
      const std::string_view record = WithoutSuffix(rest.substr(0, end), "\r");
      absl::StatusOr<LineRow> row = ReadRow(record, dialect_);
      if (row.ok()) {
        AddRow(row->dialect, std::move(row->row), offset_, items);
        return std::min(end + 1, rest.size());
      }
      if (SplitCsv(record, kMostFields).end != CsvFields::End::kOpenQuote) break;
    }
    at = std::min(end + 1, rest.size());
  }
  AddPieces(first_line, items);
  return first_length;
}

size_t CsvParser::TakeLongLine(std::string_view rest, std::vector<Item>* items) {
  AddBad(rest.substr(0, kMostLineBytes), "a line of more than 4 MiB", offset_, items);
  in_long_line_ = true;
  return kMostLineBytes;
}

void CsvParser::AddHeader(Dialect dialect, uint64_t offset, std::vector<Item>* items) {
  dialect_ = dialect;
  Item& item = items->emplace_back();
  item.kind = Kind::kHeader;
  item.dialect = dialect;
  item.line = line_;
  item.offset = offset;
}

void CsvParser::AddRow(Dialect dialect, Row row, uint64_t offset, std::vector<Item>* items) {
  Item& item = items->emplace_back();
  item.kind = Kind::kRow;
  item.dialect = dialect;
  item.row = std::move(row);
  item.line = line_;
  item.offset = offset;
}

void CsvParser::AddBad(std::string_view raw, std::string error, uint64_t offset, std::vector<Item>* items) {
  Item& item = items->emplace_back();
  item.kind = Kind::kBad;
  item.dialect = dialect_.value_or(Dialect::kV11);
  item.error = std::move(error);
  item.raw = raw;
  item.line = line_;
  item.offset = offset;
}

void CsvParser::AddPieces(std::string_view line, std::vector<Item>* items) {
  for (LinePiece& piece : CutLine(line, dialect_)) {
    const uint64_t offset = offset_ + piece.begin;
    if (piece.header.has_value()) {
      AddHeader(*piece.header, offset, items);
    } else if (piece.row.has_value()) {
      AddRow(piece.row->dialect, std::move(piece.row->row), offset, items);
    } else {
      AddBad(line.substr(piece.begin, piece.end - piece.begin), std::move(piece.error), offset, items);
    }
  }
}

}  // namespace telemetry::record::sidecar
