#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/file.h"
#include "worker/codegen/config.h"
#include "worker/tune/journal.pb.h"
#include "worker/tune/record/attempt_recorder.h"

namespace telemetry::worker::tune {

// An attempt on the local disk while it goes on: what was measured, before anybody is told of it, so that a process
// that was killed is followed by one that goes on. Each entry is forced to the disk, in a frame with a checksum
// (client/SPOOL_FORMAT.md); a torn last one is as if it had never been. Not thread-safe; one process at a time.
class Journal {
 public:
  // What earlier processes wrote.
  struct Contents {
    std::string attempt_id;  // empty: the attempt has not begun
    absl::Time started;
    std::vector<codegen::Config> starting_points;  // of the search
    std::vector<RecordedRow> rows;
    double active_s = 0;
  };

  // Makes the file, and its folder, when they are not there. ALREADY_EXISTS: another process has it: it is at this
  // attempt. FAILED_PRECONDITION: not such a file, or of another version; says how to begin anew. Errors of the disk
  // are client::File's.
  static absl::StatusOr<std::unique_ptr<Journal>> Open(const std::string& path);

  bool has_begun() const { return !contents_.attempt_id.empty(); }
  // Empty after Begin or Append.
  Contents TakeContents() { return std::move(contents_); }

  absl::Status Begin(const std::string& attempt_id, absl::Time started,
                     absl::Span<const codegen::Config> starting_points = {});
  // All of the rows, or after an error none.
  absl::Status Append(absl::Span<const RecordedRow> rows, double active_s);
  // The attempt is about to be ended with these counters. Gives those of the first call, also one of an earlier
  // process: what may have been said of an attempt has to be said alike when it is said again.
  absl::StatusOr<std::string> End(const std::string& counters_json, double active_s);
  // The attempt has ended, and everybody knows.
  absl::Status Remove();

  const std::string& path() const { return path_; }

 private:
  Journal(std::string path, client::File file) : path_(std::move(path)), file_(std::move(file)) {}

  absl::Status Read();
  absl::Status ReadEntries(uint32_t salt, std::string_view bytes);
  absl::Status Take(const JournalEntry& entry);
  absl::Status WriteHeader();
  absl::Status Write(const JournalEntry& entry);

  const std::string path_;
  client::File file_;
  uint32_t salt_ = 0;
  uint64_t next_entry_ = 1;
  uint64_t size_bytes_ = 0;
  Contents contents_;
  std::string end_counters_json_;  // empty: the attempt goes on
};

}  // namespace telemetry::worker::tune
