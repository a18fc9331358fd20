#include "worker/tune/record/append_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "proto/record/strings.h"

namespace telemetry::worker::tune {
namespace {

template <typename Call>
auto Retry(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

absl::StatusCode CodeOf(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return absl::StatusCode::kResourceExhausted;
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::StatusCode::kPermissionDenied;
    case ENOENT:
      return absl::StatusCode::kNotFound;
    default:
      return absl::StatusCode::kUnavailable;
  }
}

absl::Status StatusOf(int error, std::string_view operation, std::string_view path) {
  const absl::StatusCode code = CodeOf(error);
  const char* const advice =
      code == absl::StatusCode::kResourceExhausted ? "; make room there or log to another disk" : "";
  return {code, record::Cat("cannot ", operation, " ", path, ": ", std::generic_category().message(error), advice)};
}

}  // namespace

AppendFile::Lock::Lock(Lock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

AppendFile::Lock::~Lock() {
  if (fd_ >= 0) flock(fd_, LOCK_UN);
}

absl::StatusOr<AppendFile> AppendFile::Open(const std::string& path) {
  const int fd = Retry([&] { return open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644); });
  if (fd < 0) return StatusOf(errno, "open", path);
  return AppendFile(fd, path);
}

AppendFile::AppendFile(AppendFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

AppendFile& AppendFile::operator=(AppendFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  path_.swap(other.path_);
  return *this;
}

AppendFile::~AppendFile() {
  if (fd_ >= 0) close(fd_);
}

absl::Status AppendFile::Error(const char* operation) const { return StatusOf(errno, operation, path_); }

absl::StatusOr<AppendFile::Lock> AppendFile::Acquire() {
  if (Retry([this] { return flock(fd_, LOCK_EX); }) != 0) return Error("lock");
  return Lock(fd_);
}

bool AppendFile::HasItsPath() const {
  struct stat open_file;
  struct stat named_file;
  return fstat(fd_, &open_file) == 0 && stat(path_.c_str(), &named_file) == 0 &&
         open_file.st_ino == named_file.st_ino && open_file.st_dev == named_file.st_dev;
}

absl::StatusOr<uint64_t> AppendFile::Size() const {
  struct stat info;
  if (fstat(fd_, &info) != 0) return Error("look at");
  return static_cast<uint64_t>(info.st_size);
}

absl::StatusOr<std::string> AppendFile::Read(uint64_t most_bytes) const {
  const absl::StatusOr<uint64_t> size = Size();
  if (!size.ok()) return size.status();
  std::string bytes(std::min(*size, most_bytes), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t read =
        Retry([&] { return pread(fd_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done)); });
    if (read < 0) return Error("read");
    if (read == 0) break;  // it has become shorter meanwhile
    done += static_cast<size_t>(read);
  }
  bytes.resize(done);
  return bytes;
}

absl::Status AppendFile::Truncate(uint64_t size_bytes) {
  if (Retry([&] { return ftruncate(fd_, static_cast<off_t>(size_bytes)); }) != 0) return Error("shorten");
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> AppendFile::MissingLineEnd(uint64_t size_bytes, std::string_view line_end) const {
  if (size_bytes == 0) return std::string_view();
  char last = 0;
  if (Retry([&] { return pread(fd_, &last, 1, static_cast<off_t>(size_bytes - 1)); }) != 1) return Error("read");
  if (last == '\n') return std::string_view();
  if (last == '\r') line_end.remove_prefix(line_end.find('\n'));
  return line_end;
}

absl::Status AppendFile::Append(std::string_view lines, std::string_view line_end) {
  const absl::StatusOr<uint64_t> size = Size();
  if (!size.ok()) return size.status();
  const absl::StatusOr<std::string_view> end_of_last = MissingLineEnd(*size, line_end);
  if (!end_of_last.ok()) return end_of_last.status();
  const std::string text = record::Cat(*end_of_last, lines);
  const ssize_t written = Retry([&] { return write(fd_, text.data(), text.size()); });
  if (written == static_cast<ssize_t>(text.size())) return absl::OkStatus();
  // A short write is a full disk, which a second one would name.
  absl::Status status = written < 0 ? Error("write") : StatusOf(ENOSPC, "write", path_);
  // Somebody who takes no lock may have written behind it; then what stands here is ended by the next line.
  const absl::StatusOr<uint64_t> now = Size();
  if (written > 0 && now.ok() && *now == *size + static_cast<uint64_t>(written)) Truncate(*size).IgnoreError();
  return status;
}

}  // namespace telemetry::worker::tune
