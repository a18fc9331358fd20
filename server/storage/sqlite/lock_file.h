#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace telemetry::storage::sqlite {

// Holds a lock on the file PATH.lock, so that only one process at a time writes to PATH. Symbolic links are resolved
// first, so all names of one file share one lock. The kernel releases the lock when the process ends for any reason.
// The lock file is never removed: otherwise two processes could hold two files of the same name.
class LockFile {
 public:
  // Acquires the lock. Errors: ALREADY_EXISTS if another process holds it (the message contains its pid);
  // FAILED_PRECONDITION if `path` is a folder, or a file with a second name (hard link) that the lock would not cover;
  // PERMISSION_DENIED or NOT_FOUND for the folder.
  static absl::StatusOr<LockFile> Acquire(const std::string& path);

  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&& other) noexcept;
  ~LockFile();

 private:
  explicit LockFile(int fd) : fd_(fd) {}

  int fd_;
};

}  // namespace telemetry::storage::sqlite
