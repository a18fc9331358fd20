#include "worker/spec/file_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "proto/record/strings.h"

namespace telemetry::worker::spec {

absl::StatusOr<std::string> ReadFileBytes(const std::string& path, size_t limit) {
  // O_NONBLOCK: opening a pipe without a writer must not block.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return absl::ErrnoToStatus(errno, record::Cat("cannot read ", path));
  const absl::Cleanup close_fd = [fd] { close(fd); };
  struct stat info = {};
  if (fstat(fd, &info) != 0) return absl::ErrnoToStatus(errno, record::Cat("cannot read ", path));
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(record::Cat(path, " is not a regular file"));
  std::string bytes;
  if (static_cast<uint64_t>(info.st_size) <= limit) bytes.resize(static_cast<size_t>(info.st_size));
  size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = read(fd, bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return absl::ErrnoToStatus(errno, record::Cat("cannot read ", path));
    if (got == 0) break;  // truncated meanwhile
    filled += static_cast<size_t>(got);
  }
  if (static_cast<uint64_t>(info.st_size) > limit) {
    return absl::InvalidArgumentError(record::Cat(path, " has ", info.st_size, " bytes; the limit is ", limit));
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace telemetry::worker::spec
