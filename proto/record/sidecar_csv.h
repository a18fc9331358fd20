#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/record/sidecar_row.h"

namespace telemetry::record {

// Cuts the bytes of a sidecar CSV into rows, headers and what is neither, whatever has happened to the file: several
// processes' rows, headers in its middle, rows of a newer dialect below an older header (the width tells), torn lines,
// lines run together, quoted newlines, LF for CRLF, a byte order mark, empty lines (skipped), holes full of NULs. Bytes
// are fed as they come; an unfinished last line waits. How they are divided among calls changes nothing.
//
// Resynchronisation: a line that is no row is searched for the whole rows and headers in it (CutLine); what stands
// between them is kBad. A quoted field may hold newlines, but ends, torn, before a line that is itself a whole row or a
// header. Only the torn line is bad then; the lines behind it are read anew. A line of 4 MiB or more is kBad, in
// pieces.
//
// Not thread-safe.
class SidecarCsv {
 public:
  enum class Kind {
    kHeader,  // dialect set
    kRow,     // dialect and row set
    kBad,     // error set: bytes that are no row
  };
  struct Item {
    Kind kind = Kind::kBad;
    Dialect dialect = Dialect::kV11;
    SidecarRow row;
    std::string error;
    std::string raw;      // the bytes of a kBad, without the line end
    uint64_t line = 0;    // of its first byte, from 1
    uint64_t offset = 0;  // of its first byte, from 0
  };

  static constexpr size_t kMostLineBytes = size_t{4} << 20;

  // `dialect`: what to assume before the first header; without it rows are told by their width and form.
  explicit SidecarCsv(std::optional<Dialect> dialect = std::nullopt) : dialect_(dialect) {}

  // Adds bytes at the end; items that are whole now are appended to `items`.
  void Feed(std::string_view bytes, std::vector<Item>* items);

  // The file is complete: what waits is read as if its line had ended (a whole row without its line end is a row, but
  // for a hash of unusual length, which may have been cut off). Feed must not be called any more.
  void Finish(std::vector<Item>* items);

  // Bytes that wait for the end of their line.
  size_t pending_bytes() const { return pending_.size(); }

 private:
  // Reads what can be read of pending_.
  void Drain(std::vector<Item>* items);
  // Reads the record at the beginning of `rest`. Its length, or 0: more bytes are needed.
  size_t TakeRecord(std::string_view rest, std::vector<Item>* items);
  // The same for a record whose first line, which ends at `first_end`, leaves a quote open.
  size_t TakeOpenRecord(std::string_view rest, size_t first_end, std::vector<Item>* items);
  size_t TakeLongLine(std::string_view rest, std::vector<Item>* items);
  // Offset of the line end behind `from`, or of the end of a file that is complete; npos: it has not come yet.
  size_t LineEnd(std::string_view rest, size_t from) const;

  void AddHeader(Dialect dialect, uint64_t offset, std::vector<Item>* items);
  void AddRow(Dialect dialect, SidecarRow row, uint64_t offset, std::vector<Item>* items);
  void AddBad(std::string_view raw, std::string error, uint64_t offset, std::vector<Item>* items);
  // Adds what CutLine finds in a line.
  void AddPieces(std::string_view line, std::vector<Item>* items);

  std::optional<Dialect> dialect_;
  std::string pending_;
  uint64_t line_ = 1;          // of pending_'s first byte, or, within Drain, of the record that is being read
  uint64_t offset_ = 0;        // likewise
  size_t open_lines_end_ = 0;  // the first line of pending_ leaves a quote open, and so do the lines up to here
  bool in_long_line_ = false;  // what comes is the rest of a line whose beginning was bad for its length
  bool complete_ = false;      // no more bytes will come
};

}  // namespace telemetry::record
