#include "worker/forward/growing_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace telemetry::worker::forward {
namespace {

absl::Status ReadError(const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
}

// Returns up to `size` bytes at `offset`, fewer only at the end of the file.
absl::StatusOr<std::string> ReadAt(int fd, const std::string& path, uint64_t offset, size_t size) {
  std::string bytes(size, '\0');
  size_t have = 0;
  while (have < size) {
    const ssize_t got = pread(fd, bytes.data() + have, size - have, static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ReadError(path);
    if (got == 0) break;
    have += static_cast<size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

}  // namespace

absl::StatusOr<GrowingFile::Change> GrowingFile::Read(std::string* bytes) {
  bytes->clear();
  // O_NONBLOCK: opening a FIFO must not block until it has a writer.
  const int fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return errno == ENOENT ? absl::StatusOr<Change>(Change::kNone) : ReadError(path_);
  absl::Cleanup close_fd = [fd] { close(fd); };
  struct stat now {};
  if (fstat(fd, &now) != 0) return ReadError(path_);
  if (!S_ISREG(now.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat("cannot read ", path_, ": it is not a regular file"));
  }

  if (offset_ > 0) {
    if (now.st_dev != device_ || now.st_ino != inode_ || static_cast<uint64_t>(now.st_size) < offset_) {
      return Change::kReplaced;
    }
    ASSIGN_OR_RETURN(std::string head, ReadAt(fd, path_, 0, head_.size()));
    ASSIGN_OR_RETURN(std::string tail, ReadAt(fd, path_, offset_ - tail_.size(), tail_.size()));
    if (head != head_ || tail != tail_) return Change::kReplaced;
  }
  ASSIGN_OR_RETURN(std::string fresh, ReadAt(fd, path_, offset_, kChunkBytes));
  if (fresh.empty()) return Change::kNone;

  device_ = now.st_dev;
  inode_ = now.st_ino;
  offset_ += fresh.size();
  if (head_.size() < kProbeBytes) head_ += fresh.substr(0, kProbeBytes - head_.size());
  tail_ = absl::StrCat(tail_, fresh);
  if (tail_.size() > kProbeBytes) tail_.erase(0, tail_.size() - kProbeBytes);
  *bytes = std::move(fresh);
  return Change::kGrown;
}

void GrowingFile::Restart() {
  offset_ = 0;
  head_.clear();
  tail_.clear();
}

std::string GrowingFile::name() const { return path_.substr(path_.rfind('/') + 1); }

}  // namespace telemetry::worker::forward
