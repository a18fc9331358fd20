#include "worker/tune/recording/append_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::tune::recording {

AppendFile::Lock::Lock(Lock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

AppendFile::Lock::~Lock() {
  if (fd_ >= 0) flock(fd_, LOCK_UN);
}

// A sidecar is output of the user, so the umask determines the permissions.
constexpr mode_t kMode = 0666;

absl::StatusOr<AppendFile> AppendFile::Open(const std::string& path) {
  ASSIGN_OR_RETURN(client::File file, client::File::Open(path, O_RDWR | O_CREAT | O_APPEND, kMode));
  return AppendFile(std::move(file), path);
}

absl::StatusOr<AppendFile::Lock> AppendFile::Acquire() {
  if (TEMP_FAILURE_RETRY(flock(file_.fd(), LOCK_EX)) != 0) return client::ErrnoStatus("lock", path_);
  return Lock(file_.fd());
}

bool AppendFile::HasItsPath() const {
  struct stat open_file;
  struct stat named_file;
  return fstat(file_.fd(), &open_file) == 0 && stat(path_.c_str(), &named_file) == 0 &&
         open_file.st_ino == named_file.st_ino && open_file.st_dev == named_file.st_dev;
}

absl::StatusOr<std::string> AppendFile::Read(uint64_t most_bytes) const {
  ASSIGN_OR_RETURN(const uint64_t size, Size());
  std::string bytes(std::min(size, most_bytes), '\0');
  ASSIGN_OR_RETURN(const size_t read, file_.ReadAt(0, bytes.data(), bytes.size()));
  bytes.resize(read);  // another process may have truncated the file
  return bytes;
}

absl::StatusOr<std::string_view> AppendFile::MissingLineEnd(uint64_t size_bytes, std::string_view line_end) const {
  if (size_bytes == 0) return std::string_view();
  char last = 0;
  ASSIGN_OR_RETURN(const size_t read, file_.ReadAt(size_bytes - 1, &last, 1));
  if (read == 0) return absl::UnavailableError(record::Cat("cannot read ", path_, ": it has become shorter"));
  if (last == '\n') return std::string_view();
  if (last == '\r') line_end.remove_prefix(line_end.find('\n'));
  return line_end;
}

absl::Status AppendFile::Append(std::string_view lines, std::string_view line_end) {
  ASSIGN_OR_RETURN(const uint64_t size, Size());
  ASSIGN_OR_RETURN(const std::string_view end_of_last, MissingLineEnd(size, line_end));
  const std::string text = record::Cat(end_of_last, lines);
  // Not File::Write, which continues after a short write: readers must see a row written by one call.
  const ssize_t written = TEMP_FAILURE_RETRY(write(file_.fd(), text.data(), text.size()));
  if (written == static_cast<ssize_t>(text.size())) return absl::OkStatus();
  // A short write means that the disk is full; a second write would return this error.
  if (written >= 0) errno = ENOSPC;
  absl::Status status = client::ErrnoStatus("write", path_);
  // A process without the lock may have appended meanwhile. In this case the partial text stays, and the next Append
  // ends its line.
  const absl::StatusOr<uint64_t> now = Size();
  if (written > 0 && now.ok() && *now == size + static_cast<uint64_t>(written)) Truncate(size).IgnoreError();
  return status;
}

}  // namespace telemetry::worker::tune::recording
