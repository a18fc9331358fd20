#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace telemetry::client {

// The few file operations that the spool is made of. All are safe to call from any thread; none retries but for EINTR.
//
// Errors: RESOURCE_EXHAUSTED the disk, a quota or a file size limit is reached, and the message says what to do;
// PERMISSION_DENIED; NOT_FOUND; UNAVAILABLE anything else. Messages name the operation, the path and the system's
// reason.

// Owns a file descriptor.
class File {
 public:
  File() = default;
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}
  File& operator=(File&& other) noexcept;
  ~File();

  // `flags` as for open(2). A new file is its owner's alone, unless `mode` says otherwise.
  static absl::StatusOr<File> Open(const std::string& path, int flags, mode_t mode = S_IRUSR | S_IWUSR);

  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }

  // Appends all of `bytes` at the file's position. After an error any prefix may have been written.
  absl::Status Write(std::string_view bytes);
  // Writes all of `bytes` at `offset`; the file's position stays.
  absl::Status WriteAt(uint64_t offset, std::string_view bytes);
  // Reads up to `size` bytes; fewer only at the end of the file.
  absl::StatusOr<size_t> ReadAt(uint64_t offset, char* data, size_t size) const;
  absl::StatusOr<uint64_t> Size() const;
  absl::Status Truncate(uint64_t size);
  // Forces the file's data to the disk.
  absl::Status Sync();

 private:
  File(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  int fd_ = -1;
  std::string path_;  // for messages; the file may have another name by now
};

// The status for the current errno.
absl::Status ErrnoStatus(absl::string_view operation, absl::string_view path);

// The folder and those above it that are not there; they are their owner's alone, whatever the umask.
absl::Status MakeFolders(const std::string& path);
// Makes a file that everybody may open its owner's alone; false: it was not so, or belongs to another user. A mode
// without access for everybody, as 0640, was chosen by somebody and stays.
bool TakeFromOthers(const std::string& path);
// Names of the entries, without "." and "..", sorted.
absl::StatusOr<std::vector<std::string>> ListFolder(const std::string& path);
// Forces names that were created, renamed or removed in the folder to the disk.
absl::Status SyncFolder(const std::string& path);

// Replaces the file in one step: after a crash or a power cut it holds the old contents or the new.
absl::Status ReplaceFile(const std::string& path, std::string_view contents);
absl::Status RemoveFile(const std::string& path);

// Keeps other processes (and other openings in this one) out of a folder until the returned file is closed.
// ALREADY_EXISTS: somebody has it; the message says who and what to do.
absl::StatusOr<File> LockFolder(const std::string& path);

}  // namespace telemetry::client
