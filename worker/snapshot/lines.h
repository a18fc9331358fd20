#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/record/json.h"

namespace telemetry::worker::snapshot {

// The lines of a file of a snapshot, read one by one. Not thread-safe.
class Lines {
 public:
  // Returns NOT_FOUND if the file cannot be opened.
  static absl::StatusOr<Lines> Open(const std::string& path);

  // Reads the next line, without its line end; returns false at the end of the file.
  bool Next(std::string* line);
  // Reads the next line as JSON; returns false at the end. FAILED_PRECONDITION: the line is not JSON.
  absl::StatusOr<bool> NextJson(record::Json* json);
  // Reads the next CSV record, whose quoted fields may contain line breaks; returns false at the end.
  // FAILED_PRECONDITION: the record does not have `width` fields.
  absl::StatusOr<bool> NextFields(size_t width, std::vector<std::string>* fields);

  // Returns FAILED_PRECONDITION with the file and the line that was read last.
  absl::Status Wrong(std::string_view why) const;

 private:
  Lines(std::string path, std::ifstream file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  std::ifstream file_;
  uint64_t line_ = 0;
};

}  // namespace telemetry::worker::snapshot
