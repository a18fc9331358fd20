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
// lines run together, quoted newlines, LF for CRLF. Bytes are fed as they come; an unfinished last line waits.
//
// Resynchronisation: a line that is no row is searched for a place where a row of a known dialect begins (an id and a
// comma after a torn field, a closing quote followed by an id or a number); what stands before it is kPart. A quoted
// field may hold newlines, but ends at a line that is itself a whole row or a header.
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
    std::string raw;      // the bytes of a kBad
    uint64_t line = 0;    // of its first byte, from 1
    uint64_t offset = 0;  // of its first byte, from 0
  };

  // `dialect`: what to assume before the first header; without it rows are told by their width and form.
  explicit SidecarCsv(std::optional<Dialect> dialect = std::nullopt) : dialect_(dialect) {}

  // Adds bytes at the end; items that are whole now are appended to `items`.
  void Feed(std::string_view bytes, std::vector<Item>* items);

  // The file is complete: what waits is read as if its line had ended (a whole row without its line end is a row).
  void Finish(std::vector<Item>* items);

  // Bytes that wait for the end of their line.
  size_t pending_bytes() const { return pending_.size(); }

 private:
  std::optional<Dialect> dialect_;
  std::string pending_;
  uint64_t line_ = 1;
  uint64_t offset_ = 0;
};

}  // namespace telemetry::record
