#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/record/sidecar/row.h"

namespace telemetry::record::sidecar {

// A parser that splits the bytes of a sidecar CSV into rows, headers and bad bytes. It handles every known kind of
// damage: rows of several processes, headers in the middle, rows of a newer dialect below an older header (the width
// identifies the dialect), torn lines, merged lines, quoted newlines, LF instead of CRLF, a byte order mark, empty
// lines (skipped) and holes full of NULs. Feed() accepts bytes as they arrive and keeps an incomplete last line. The
// division of the bytes into calls does not affect the result.
//
// Resynchronisation: a line that is not a row is searched for complete rows and headers (CutLine), and the bytes
// between them are kBad. A quoted field may contain newlines. It ends, torn, before a line that is itself a complete
// row or a header; then only the torn line is bad, and the lines after it are read again. A line of 4 MiB or more is
// kBad, in pieces.
//
// Not thread-safe.
class CsvParser {
 public:
  enum class Kind {
    kHeader,  // `dialect` is set
    kRow,     // `dialect` and `row` are set
    kBad,     // `error` and `raw` are set: bytes that are not a row
  };
  // One header, one row or one stretch of bad bytes.
  struct Item {
    Kind kind = Kind::kBad;
    Dialect dialect = Dialect::kV11;
    Row row;
    std::string error;
    std::string raw;      // for kBad: the bytes without the line end
    uint64_t line = 0;    // line of the first byte, from 1
    uint64_t offset = 0;  // offset of the first byte, from 0
  };

  static constexpr size_t kMostLineBytes = size_t{4} << 20;

  // `dialect` is assumed before the first header. Without it, the width and form of the rows identify their dialect.
  explicit CsvParser(std::optional<Dialect> dialect = std::nullopt) : dialect_(dialect) {}

  // Adds bytes at the end and appends the items that are now complete to `items`.
  void Feed(std::string_view bytes, std::vector<Item>* items);

  // Ends the file: parses the pending bytes as if their line had ended. A complete row without its line end is a row,
  // except for a row with a hash of unusual length, which may be truncated. Feed() must not be called afterwards.
  void Finish(std::vector<Item>* items);

  // Returns the number of bytes in the incomplete last line.
  size_t pending_bytes() const { return pending_.size(); }

 private:
  // Parses the complete records in pending_.
  void Drain(std::vector<Item>* items);
  // Parses the record at the beginning of `rest`. Returns its length, or 0 if more bytes are needed.
  size_t TakeRecord(std::string_view rest, std::vector<Item>* items);
  // Like TakeRecord(), for a record whose first line, which ends at `first_end`, leaves a quote open.
  size_t TakeOpenRecord(std::string_view rest, size_t first_end, std::vector<Item>* items);
  size_t TakeLongLine(std::string_view rest, std::vector<Item>* items);
  // Returns the offset of the line end after `from`, or of the end of a complete file; npos if the line end has not
  // arrived.
  size_t LineEnd(std::string_view rest, size_t from) const;

  void AddHeader(Dialect dialect, uint64_t offset, std::vector<Item>* items);
  void AddRow(Dialect dialect, Row row, uint64_t offset, std::vector<Item>* items);
  void AddBad(std::string_view raw, std::string error, uint64_t offset, std::vector<Item>* items);
  // Adds the pieces that CutLine() finds in a line.
  void AddPieces(std::string_view line, std::vector<Item>* items);

  std::optional<Dialect> dialect_;
  std::string pending_;
  uint64_t line_ = 1;          // line of pending_'s first byte; within Drain(), of the record being read
  uint64_t offset_ = 0;        // offset of the same byte
  size_t open_lines_end_ = 0;  // end of the leading lines of pending_ that leave a quote open
  bool in_long_line_ = false;  // the next bytes belong to a line that was too long
  bool complete_ = false;      // no more bytes will arrive
};

}  // namespace telemetry::record::sidecar
