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
#include "worker/tune/recording/attempt_row.h"
#include "worker/tune/search/related_runs.h"

namespace telemetry::worker::tune {

// A durable log of an unfinished attempt on the local disk. A row is written here before it is recorded anywhere else,
// so that the next process can resume the attempt after a crash. Each entry is a frame with a checksum
// (client/SPOOL_FORMAT.md) and is followed by an fsync; a torn last entry is discarded. Not thread-safe; a file lock
// admits one process at a time.
class Journal {
 public:
  // The entries that earlier processes wrote.
  struct Contents {
    std::string attempt_id;  // 16 bytes; empty: the attempt has not begun
    absl::Time started;
    std::vector<codegen::Config> starting_points;  // of the search
    std::vector<search::RelatedRun> related;       // of the search
    std::vector<search::Trial> earlier;            // of the search
    std::vector<recording::AttemptRow> rows;
    std::vector<int64_t> learnt;  // the number of results that the search had learnt before each proposal
    double active_s = 0;          // seconds that earlier processes worked on the attempt
  };

  // Opens the journal; creates the file and its folder if they do not exist. Returns ALREADY_EXISTS if another process
  // holds the lock, and FAILED_PRECONDITION, with instructions to start over, if the file is not a journal or has
  // another version. I/O errors are those of client::File.
  static absl::StatusOr<std::unique_ptr<Journal>> Open(const std::string& path);

  bool has_begun() const { return !contents_.attempt_id.empty(); }
  // Returns the entries of earlier processes and leaves none here. Call it before Begin or Append.
  Contents TakeContents() { return std::move(contents_); }

  absl::Status Begin(const std::string& attempt_id, absl::Time started,
                     absl::Span<const codegen::Config> starting_points = {},
                     absl::Span<const search::RelatedRun> related = {}, absl::Span<const search::Trial> earlier = {});
  // Appends the rows and proposals atomically: after an error the journal has none of them.
  absl::Status Append(absl::Span<const recording::AttemptRow> rows, double active_s,
                      absl::Span<const int64_t> learnt = {});
  // Writes the counters that the attempt is about to end with. Returns the counters of the first such call, which an
  // earlier process may have made: an end record that may already have been sent must have the same content when it is
  // sent again.
  absl::StatusOr<std::string> End(const std::string& counters_json, double active_s);
  // Deletes the file. Call it after the attempt's end is recorded.
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
  std::string end_counters_json_;  // empty: End was not called yet
};

}  // namespace telemetry::worker::tune
