#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/record/json.h"

namespace telemetry::worker::forward {

// A parser that splits a growing .jsonl file into its JSON records, also if lines are damaged: a record torn by a
// killed job, or records of two processes merged in one line. In a line that is not a JSON value, the parser tries each
// position at which a record may begin (the `start` text, such as `{"run_id"`). Bytes that belong to no record are bad.
class RecordLines {
 public:
  // One record, or one stretch of bad bytes.
  struct Item {
    bool ok = false;
    record::Json record;  // if ok
    std::string raw;      // if not ok: the bytes
    std::string error;    // if not ok: the fault
    uint64_t line = 0;    // from 1
  };

  explicit RecordLines(std::string start) : start_(std::move(start)) {}

  // Adds bytes and appends the items that are now complete to `items`. The last line stays pending until its end
  // arrives.
  void Feed(std::string_view bytes, std::vector<Item>* items);
  // Ends the file: also parses a last line without its end.
  void Finish(std::vector<Item>* items);

  // Returns the number of bytes in the incomplete last line.
  size_t pending_bytes() const { return pending_.size(); }

 private:
  void ReadLine(std::string_view line, std::vector<Item>* items);
  // Appends the record in `text`; returns false if the text is not a JSON value.
  bool AddRecord(std::string_view text, std::vector<Item>* items) const;
  void AddBad(std::string_view bytes, std::vector<Item>* items) const;

  std::string start_;
  std::string pending_;
  uint64_t line_ = 1;
};

}  // namespace telemetry::worker::forward
