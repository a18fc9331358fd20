#include "server/storage/sqlite/lock_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/sqlite/dataset_path.h"

namespace telemetry::storage::sqlite {
namespace {

std::string ReadHolder(int fd) {
  char digits[32];
  const ssize_t size = pread(fd, digits, sizeof digits, 0);
  std::string pid(digits, size > 0 ? size : 0);
  absl::StripAsciiWhitespace(&pid);
  return pid.empty() ? "unknown" : pid;
}

absl::Status WriteHolder(int fd) {
  const std::string pid = absl::StrCat(getpid(), "\n");
  if (ftruncate(fd, 0) != 0 || pwrite(fd, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return absl::ErrnoToStatus(errno, "cannot write the lock file");
  }
  return absl::OkStatus();
}

absl::Status RequireOneName(const std::string& path) {
  std::error_code error;
  const auto names = std::filesystem::hard_link_count(path, error);
  if (error || names == 1) return absl::OkStatus();  // a file that does not exist yet will have one name
  return absl::FailedPreconditionError(absl::StrCat(
      path, " has ", names, " names (hard links), and SQLite would keep a separate log under each: remove the others, ",
      "or make a copy with telemetry-collector backup and give that as --db"));
}

}  // namespace

absl::StatusOr<LockFile> LockFile::Acquire(const std::string& path) {
  RETURN_IF_ERROR(RefuseFolder(path));
  ASSIGN_OR_RETURN(const std::string real_path, RealPath(path));
  const std::string name = real_path + ".lock";
  const int fd = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", name));
  LockFile lock(fd);
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return absl::ErrnoToStatus(errno, absl::StrCat("cannot lock ", name));
    return absl::AlreadyExistsError(absl::StrCat(path, " is in use by another collector (pid ", ReadHolder(fd),
                                                 ", lock file ", name, "): stop it first, or give another --db"));
  }
  RETURN_IF_ERROR(RequireOneName(real_path));
  RETURN_IF_ERROR(WriteHolder(fd));
  return lock;
}

LockFile::LockFile(LockFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

LockFile& LockFile::operator=(LockFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

LockFile::~LockFile() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace telemetry::storage::sqlite
