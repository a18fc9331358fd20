#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace telemetry::storage {

// What the writer has acknowledged, written down beside the dataset: SQLite itself takes a log that was cut short, or
// damaged in its middle, for one that ends there.
struct AckedMark {
  std::string dataset_id;
  uint64_t records = 0;     // of all producers together
  uint64_t log_salts = 0;   // of the write-ahead log then (WalScan)
  uint32_t log_frames = 0;  // that were committed in it

  bool operator==(const AckedMark&) const = default;
};

// The file DATABASE.acked: one line, overwritten in place after each commit and before its acknowledgement. It is not
// forced to the disk: whoever dies takes nothing back, and a power cut leaves an older line, which promises less. Since
// it is written after the commit was forced to the disk, it never promises more than there is. For one thread.
class AckedMarkFile {
 public:
  // `database` with its links resolved (LockFile::path); the file is made when it is not there.
  static absl::StatusOr<AckedMarkFile> Open(const std::string& database);
  // Also beside the process that overwrites the line: one that is read half old and half new is read again, for a
  // quarter of a second. nullopt: none was ever written. DATA_LOSS: it is damaged; the message says what to do.
  static absl::StatusOr<std::optional<AckedMark>> Read(const std::string& database);
  static std::string PathOf(const std::string& database) { return database + ".acked"; }

  AckedMarkFile(AckedMarkFile&& other) noexcept;
  AckedMarkFile& operator=(AckedMarkFile&& other) noexcept;
  ~AckedMarkFile();

  // UNAVAILABLE: the disk.
  absl::Status Store(const AckedMark& mark);

 private:
  explicit AckedMarkFile(int fd) : fd_(fd) {}

  int fd_;
};

}  // namespace telemetry::storage
