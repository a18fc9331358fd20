#include "client/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/status_macros.h"

namespace telemetry::client {
namespace {

template <typename Call>
auto Retry(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

absl::StatusCode ErrnoToStatusCode(int error) {
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

absl::Status SystemErrorStatus(int error, absl::string_view operation, absl::string_view path) {
  const absl::StatusCode code = ErrnoToStatusCode(error);
  return {code, absl::StrCat("cannot ", operation, " ", path, ": ", std::generic_category().message(error),
                             code == absl::StatusCode::kResourceExhausted
                                 ? "; make room there or choose a folder (--state-dir, --log) on another disk"
                                 : "")};
}

constexpr size_t kPidDigits = 20;

// Writes the pid for a person who finds the folder locked. The length is constant, so that rewriting the file needs no
// space.
void WritePid(File* lock) { lock->WriteAt(0, absl::StrFormat("%*d\n", kPidDigits, getpid())).IgnoreError(); }

std::string ReadPid(const File& lock) {
  std::string digits(kPidDigits, ' ');
  if (!lock.ReadAt(0, digits.data(), digits.size()).ok()) return "";
  return std::string(absl::StripAsciiWhitespace(digits));
}

}  // namespace

absl::Status ErrnoStatus(absl::string_view operation, absl::string_view path) {
  return SystemErrorStatus(errno, operation, path);
}

File& File::operator=(File&& other) noexcept {
  std::swap(fd_, other.fd_);
  path_.swap(other.path_);
  return *this;
}

File::~File() {
  if (fd_ >= 0) close(fd_);
}

absl::StatusOr<File> File::Open(const std::string& path, int flags, mode_t mode) {
  const int fd = Retry([&] { return open(path.c_str(), flags | O_CLOEXEC, mode); });
  if (fd < 0) return ErrnoStatus("open", path);
  return File(fd, path);
}

absl::Status File::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = Retry([&] { return write(fd_, bytes.data(), bytes.size()); });
    if (written < 0) return ErrnoStatus("write", path_);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status File::WriteAt(uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = Retry([&] { return pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (written < 0) return ErrnoStatus("write", path_);
    bytes.remove_prefix(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> File::ReadAt(uint64_t offset, char* data, size_t size) const {
  size_t done = 0;
  while (done < size) {
    const ssize_t read = Retry([&] { return pread(fd_, data + done, size - done, static_cast<off_t>(offset + done)); });
    if (read < 0) return ErrnoStatus("read", path_);
    if (read == 0) break;
    done += static_cast<size_t>(read);
  }
  return done;
}

absl::StatusOr<uint64_t> File::Size() const {
  struct stat info;
  if (fstat(fd_, &info) != 0) return ErrnoStatus("stat", path_);
  return static_cast<uint64_t>(info.st_size);
}

absl::Status File::Truncate(uint64_t size) {
  if (Retry([&] { return ftruncate(fd_, static_cast<off_t>(size)); }) != 0) return ErrnoStatus("truncate", path_);
  if (lseek(fd_, static_cast<off_t>(size), SEEK_SET) < 0) return ErrnoStatus("seek", path_);
  return absl::OkStatus();
}

absl::Status File::Sync() {
  if (Retry([&] { return fdatasync(fd_); }) != 0) return ErrnoStatus("sync", path_);
  return absl::OkStatus();
}

absl::Status MakeFolders(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return absl::OkStatus();
  const std::string parent = std::filesystem::path(path).parent_path().string();
  if (!parent.empty() && parent != path) {
    RETURN_IF_ERROR(MakeFolders(parent));
  }
  if (mkdir(path.c_str(), S_IRWXU) == 0) return absl::OkStatus();
  const int why = errno;
  // Another process has created the folder meanwhile.
  if (why == EEXIST && std::filesystem::is_directory(path, error)) return absl::OkStatus();
  return SystemErrorStatus(why, "make the folder", path);
}

bool TakeFromOthers(const std::string& path) {
  struct stat file = {};
  return lstat(path.c_str(), &file) == 0 && S_ISREG(file.st_mode) && (file.st_mode & S_IRWXO) != 0 &&
         file.st_uid == geteuid() && chmod(path.c_str(), S_IRUSR | S_IWUSR) == 0;
}

absl::StatusOr<std::vector<std::string>> ListFolder(const std::string& path) {
  std::error_code error;
  std::vector<std::string> names;
  std::filesystem::directory_iterator entry(path, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error) return SystemErrorStatus(error.value(), "list the folder", path);
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status SyncFolder(const std::string& path) {
  ASSIGN_OR_RETURN(File folder, File::Open(path, O_RDONLY | O_DIRECTORY));
  if (Retry([&] { return fsync(folder.fd()); }) != 0) return ErrnoStatus("sync the folder", path);
  return absl::OkStatus();
}

absl::Status ReplaceFile(const std::string& path, std::string_view contents) {
  const std::string next = absl::StrCat(path, ".next");
  ASSIGN_OR_RETURN(File file, File::Open(next, O_WRONLY | O_CREAT | O_TRUNC));
  absl::Status status = file.Write(contents);
  if (status.ok()) status = file.Sync();
  if (!status.ok()) {
    RemoveFile(next).IgnoreError();
    return status;
  }
  if (rename(next.c_str(), path.c_str()) != 0) return ErrnoStatus("replace", path);
  return SyncFolder(std::filesystem::path(path).parent_path().string());
}

absl::Status RemoveFile(const std::string& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) return ErrnoStatus("remove", path);
  return absl::OkStatus();
}

absl::StatusOr<File> LockFolder(const std::string& path) {
  ASSIGN_OR_RETURN(File file, File::Open(absl::StrCat(path, "/lock"), O_RDWR | O_CREAT));
  if (Retry([&] { return flock(file.fd(), LOCK_EX | LOCK_NB); }) == 0) {
    WritePid(&file);
    return file;
  }
  if (errno != EWOULDBLOCK) return ErrnoStatus("lock", path);
  const std::string pid = ReadPid(file);
  return absl::AlreadyExistsError(absl::StrCat("the spool ", path, " is in use by ",
                                               pid.empty() ? "another process" : "process ", pid,
                                               "; stop that one, or give this one a folder of its own (--state-dir)"));
}

}  // namespace telemetry::client
