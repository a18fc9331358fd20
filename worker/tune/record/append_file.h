#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/file.h"

namespace telemetry::worker::tune {

// A text file that several processes append to. Not thread-safe.
//
// Errors: PERMISSION_DENIED; NOT_FOUND: no such folder; RESOURCE_EXHAUSTED: the disk is full; UNAVAILABLE: anything
// else.
class AppendFile {
 public:
  // Keeps other processes, and other AppendFiles of this one, from taking the same lock.
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

  // Makes the file when it is not there.
  static absl::StatusOr<AppendFile> Open(const std::string& path);

  // Waits for the lock. The file must outlive it.
  absl::StatusOr<Lock> Acquire();

  // False: the path names another file by now, or none.
  bool HasItsPath() const;
  absl::StatusOr<uint64_t> Size() const { return file_.Size(); }
  absl::StatusOr<std::string> Read(uint64_t most_bytes) const;  // from the beginning
  absl::Status Truncate(uint64_t size_bytes) { return file_.Truncate(size_bytes); }

  // Adds whole lines with one write; all of it, or after an error nothing. A last line that somebody left unfinished is
  // ended with `line_end` before. Call while a lock of the file, or of the set that it belongs to, is held.
  absl::Status Append(std::string_view lines, std::string_view line_end);

  const std::string& path() const { return path_; }

 private:
  AppendFile(client::File file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  // What has to be written before the next line: nothing, or what is missing of the last one's end.
  absl::StatusOr<std::string_view> MissingLineEnd(uint64_t size_bytes, std::string_view line_end) const;

  client::File file_;
  std::string path_;
};

}  // namespace telemetry::worker::tune
