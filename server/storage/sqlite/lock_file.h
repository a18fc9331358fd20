#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace telemetry::storage {

// Holds the file PATH.lock, so that one process at a time writes to PATH. Symbolic links are followed first: all names
// that lead to one file lead to one lock. The kernel lets go of it when the process ends, however it ends; the lock
// file itself stays, since removing it would let two processes hold two files of one name.
class LockFile {
 public:
  // ALREADY_EXISTS: another process has it; the message names its pid. FAILED_PRECONDITION: it is a folder, or the file
  // has a second name (a hard link), under which it could not be kept from others. PERMISSION_DENIED, NOT_FOUND: the
  // folder.
  static absl::StatusOr<LockFile> Acquire(const std::string& path);

  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&& other) noexcept;
  ~LockFile();

 private:
  explicit LockFile(int fd) : fd_(fd) {}

  int fd_;
};

}  // namespace telemetry::storage
