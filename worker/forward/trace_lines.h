#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/record/sidecar/trace_line.h"

namespace telemetry::worker::forward {

// A parser that splits a growing .trace.jsonl file into its lines, also if lines are damaged (record_pieces.h). It
// keeps the text of each line as it is, and holds at most one line of kMostTraceLineBytes. Not thread-safe.
class TraceLines {
 public:
  // One line, or one stretch of bad bytes.
  struct Item {
    bool ok = false;
    record::sidecar::TraceLine parsed;  // if ok
    std::string text;                   // the bytes, without the line end
    std::string error;                  // if not ok: the fault
    uint64_t line = 0;                  // from 1
  };

  // Adds bytes and appends the items that are now complete to `items`. The last line stays pending until its end
  // arrives. A line that is too long becomes bad items of at most kMostTraceLineBytes each.
  void Feed(std::string_view bytes, std::vector<Item>* items);
  // Ends the file: also parses a last line without its end.
  void Finish(std::vector<Item>* items);

 private:
  void ReadLine(std::string_view line, std::vector<Item>* items);
  bool AddLine(std::string_view text, std::vector<Item>* items) const;
  void AddBad(std::string_view text, std::string error, std::vector<Item>* items) const;

  std::string pending_;
  bool in_long_line_ = false;  // the next bytes belong to a line that was too long
  uint64_t line_ = 1;
};

}  // namespace telemetry::worker::forward
