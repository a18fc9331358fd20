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

// The file operations of the spool. All are safe to call from any thread. They retry only after EINTR.
//
// Errors: RESOURCE_EXHAUSTED if the disk is full or a quota or file size limit is reached (the message contains the
// remedy), PERMISSION_DENIED, NOT_FOUND, and UNAVAILABLE for any other failure. Messages name the operation, the path
// and the system's reason.

// An open file. Closes the descriptor when destroyed.
class File {
 public:
  File() = default;
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}
  File& operator=(File&& other) noexcept;
  ~File();

  // Opens the file with the `flags` of open(2). By default, only the owner can access a new file.
  static absl::StatusOr<File> Open(const std::string& path, int flags, mode_t mode = S_IRUSR | S_IWUSR);

  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }

  // Writes all of `bytes` at the file's position. After an error, any prefix may have been written.
  absl::Status Write(std::string_view bytes);
  // Writes all of `bytes` at `offset` and leaves the file's position unchanged.
  absl::Status WriteAt(uint64_t offset, std::string_view bytes);
  // Reads up to `size` bytes. Returns the count, which is smaller than `size` only at the end of the file.
  absl::StatusOr<size_t> ReadAt(uint64_t offset, char* data, size_t size) const;
  absl::StatusOr<uint64_t> Size() const;
  absl::Status Truncate(uint64_t size);
  // Calls fdatasync.
  absl::Status Sync();

 private:
  File(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  int fd_ = -1;
  std::string path_;  // for messages; the file may have been renamed since
};

// Returns the status for the current errno.
absl::Status ErrnoStatus(absl::string_view operation, absl::string_view path);

// Creates the folder and its missing parents. Only the owner can access them, whatever the umask is.
absl::Status MakeFolders(const std::string& path);
// Sets the mode of a file to 0600 if the file grants access to everybody. Returns false if the file does not or if it
// belongs to another user. A mode without access for everybody, such as 0640, is a deliberate choice and stays
// unchanged.
bool TakeFromOthers(const std::string& path);
// Returns the names of the entries, without "." and "..", sorted.
absl::StatusOr<std::vector<std::string>> ListFolder(const std::string& path);
// Calls fsync on the folder, which makes created, renamed and removed names durable.
absl::Status SyncFolder(const std::string& path);

// Replaces the file atomically and durably. After a crash or a power cut, the file holds either the old contents or the
// new.
absl::Status ReplaceFile(const std::string& path, std::string_view contents);
absl::Status RemoveFile(const std::string& path);

// Locks the folder until the returned file is closed. The lock excludes other processes and other openings in this
// process. Returns ALREADY_EXISTS if the folder is locked; the message names the process that holds the lock and the
// remedy.
absl::StatusOr<File> LockFolder(const std::string& path);

}  // namespace telemetry::client
