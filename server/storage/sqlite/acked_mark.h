#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace telemetry::storage::sqlite {

// The amount that the writer has acknowledged, stored beside the dataset. SQLite alone cannot detect a write-ahead log
// that was truncated or damaged in its middle: it treats the log as ending there.
struct AckedMark {
  std::string dataset_id;
  uint64_t records = 0;     // total over all producers
  uint64_t log_salts = 0;   // of the write-ahead log at that time (WalScan::salts)
  uint32_t log_frames = 0;  // committed frames in that log

  bool operator==(const AckedMark&) const = default;
};

// The file DATABASE.acked: one line that the writer overwrites in place after each commit and before the
// acknowledgement. The file is not fsynced. A crash of the process loses nothing of it, and a power cut leaves an older
// line, which promises less. The line is written after the commit was fsynced, so it never promises more than the
// database holds. Not thread-safe.
class AckedMarkFile {
 public:
  // Opens the file, and creates it if it does not exist. `database` is a path without symbolic links (LockFile::path).
  static absl::StatusOr<AckedMarkFile> Open(const std::string& database);
  // Reads the mark, also while another process overwrites the line: a line that is half old and half new is read again
  // for up to a quarter of a second. Returns nullopt if no mark was ever written. Returns DATA_LOSS if the line is
  // damaged; the message names the remedy.
  static absl::StatusOr<std::optional<AckedMark>> Read(const std::string& database);
  static std::string MarkPath(const std::string& database) { return database + ".acked"; }

  AckedMarkFile(AckedMarkFile&& other) noexcept;
  AckedMarkFile& operator=(AckedMarkFile&& other) noexcept;
  ~AckedMarkFile();

  // Overwrites the line. Returns UNAVAILABLE on an I/O error.
  absl::Status Store(const AckedMark& mark);

 private:
  explicit AckedMarkFile(int fd) : fd_(fd) {}

  int fd_;
};

}  // namespace telemetry::storage::sqlite
