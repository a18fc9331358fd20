#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/record/json.h"

namespace telemetry::forward {

// Cuts a growing .jsonl file into its JSON records, whatever happened to its lines: a record torn by a killed job, two
// processes' records run together in one line. In a line that is no JSON value, each place where a record begins (the
// `start` text, such as `{"run_id"`) is tried; what belongs to no record is bad.
class RecordLines {
 public:
  struct Item {
    bool ok = false;
    record::Json record;  // ok
    std::string raw;      // not ok: the bytes
    std::string error;    // not ok
    uint64_t line = 0;    // from 1
  };

  explicit RecordLines(std::string start) : start_(std::move(start)) {}

  // Adds bytes; what is whole now is appended to `items`. The last line waits for its end.
  void Feed(std::string_view bytes, std::vector<Item>* items);
  // The file is complete: a last line without its end is read, too.
  void Finish(std::vector<Item>* items);

 private:
  void ReadLine(std::string_view line, std::vector<Item>* items);
  // False: the text is no JSON value.
  bool AddRecord(std::string_view text, std::vector<Item>* items) const;
  void AddBad(std::string_view bytes, std::vector<Item>* items) const;

  std::string start_;
  std::string pending_;
  uint64_t line_ = 1;
};

}  // namespace telemetry::forward
