#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/file.h"

namespace telemetry::worker::tune::recording {

// A text file that several processes append to. Not thread-safe.
//
// Errors: PERMISSION_DENIED; NOT_FOUND: the folder does not exist; RESOURCE_EXHAUSTED: the disk is full; UNAVAILABLE:
// any other error.
class AppendFile {
 public:
  // A held lock. Other processes, and other AppendFiles of this process, cannot acquire the same lock.
  class Lock {
   public:
    Lock(Lock&& other) noexcept;
    Lock& operator=(Lock&&) = delete;
    ~Lock();

   private:
    friend class AppendFile;
    explicit Lock(int fd) : fd_(fd) {}
    int fd_;
  };

  // Opens the file; creates it if it does not exist.
  static absl::StatusOr<AppendFile> Open(const std::string& path);

  // Blocks until the lock is acquired. The file must outlive the lock.
  absl::StatusOr<Lock> Acquire();

  // Returns false if the path now refers to another file, or to none.
  bool HasItsPath() const;
  absl::StatusOr<uint64_t> Size() const { return file_.Size(); }
  absl::StatusOr<std::string> Read(uint64_t most_bytes) const;  // from the beginning
  absl::Status Truncate(uint64_t size_bytes) { return file_.Truncate(size_bytes); }

  // Appends complete lines with one write. After an error, nothing was appended. If the last line of the file is
  // unfinished, `line_end` is written before the lines. The caller must hold a lock of the file, or of the set of files
  // that the file belongs to.
  absl::Status Append(std::string_view lines, std::string_view line_end);

  const std::string& path() const { return path_; }

 private:
  AppendFile(client::File file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  // Returns the missing part of the last line's end; "" if the last line is complete.
  absl::StatusOr<std::string_view> MissingLineEnd(uint64_t size_bytes, std::string_view line_end) const;

  client::File file_;
  std::string path_;
};

}  // namespace telemetry::worker::tune::recording
