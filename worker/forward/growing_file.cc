#include "worker/forward/growing_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

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

// Returns the folder of the file that a path leads to through symbolic links.
std::string FolderOf(const std::string& path) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(path, error);
  return error ? std::filesystem::path(path).parent_path().string() : file.parent_path().string();
}

}  // namespace

// A descriptor of the file. Closes it.
struct GrowingFile::Opened {
  explicit Opened(int descriptor) : fd(descriptor) {}
  ~Opened() {
    if (fd >= 0) close(fd);
  }
  Opened(Opened&& other) noexcept : fd(std::exchange(other.fd, -1)), stat(other.stat) {}
  Opened& operator=(Opened&&) = delete;

  int fd;
  struct stat stat {};
};

bool GrowingFile::IsOther(const Opened& opened) const {
  return offset_ > 0 && (opened.stat.st_dev != device_ || opened.stat.st_ino != inode_);
}

void GrowingFile::FindRenamed(const Opened& opened) {
  std::pair<std::string, ino_t> wanted(renamed_to_.value_or(path_), opened.fd < 0 ? 0 : opened.stat.st_ino);
  if (wanted == searched_for_) return;
  searched_for_ = std::move(wanted);
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder_, error); !error && entry != std::filesystem::end(entry);
       entry.increment(error)) {
    struct stat found {};
    if (lstat(entry->path().c_str(), &found) != 0 || found.st_dev != device_ || found.st_ino != inode_) continue;
    renamed_to_ = entry->path().string();
    return;
  }
}

absl::StatusOr<std::optional<GrowingFile::Opened>> GrowingFile::Open() {
  for (bool has_searched = false;; has_searched = true) {
    const std::string& path = renamed_to_.value_or(path_);
    // O_NONBLOCK: opening a FIFO must not block until it has a writer.
    Opened opened(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (opened.fd < 0 && errno != ENOENT) return ReadError(path);
    if (opened.fd >= 0 && fstat(opened.fd, &opened.stat) != 0) return ReadError(path);
    const bool is_absent = opened.fd < 0;
    if (offset_ > 0 && !has_searched && (is_absent || IsOther(opened))) {
      FindRenamed(opened);
      continue;
    }
    // A renamed file that is gone has been read as far as it was there.
    if (is_absent || (renamed_to_.has_value() && IsOther(opened))) return std::optional<Opened>();
    return std::optional<Opened>(std::move(opened));
  }
}

absl::StatusOr<GrowingFile::Change> GrowingFile::Read(std::string* bytes) {
  bytes->clear();
  ASSIGN_OR_RETURN(const std::optional<Opened> opened, Open());
  if (!opened.has_value()) return Change::kNone;
  const struct stat& now = opened->stat;
  if (!S_ISREG(now.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat("cannot read ", path_, ": it is not a regular file"));
  }

  if (offset_ > 0) {
    if (IsOther(*opened) || static_cast<uint64_t>(now.st_size) < offset_) return Change::kReplaced;
    ASSIGN_OR_RETURN(std::string head, ReadAt(opened->fd, path_, 0, head_.size()));
    ASSIGN_OR_RETURN(std::string tail, ReadAt(opened->fd, path_, offset_ - tail_.size(), tail_.size()));
    if (head != head_ || tail != tail_) return Change::kReplaced;
  }
  ASSIGN_OR_RETURN(std::string fresh, ReadAt(opened->fd, path_, offset_, kChunkBytes));
  if (fresh.empty()) return Change::kNone;

  if (offset_ == 0) folder_ = FolderOf(path_);
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
  renamed_to_.reset();
  searched_for_ = {};
  head_.clear();
  tail_.clear();
}

std::string GrowingFile::name() const { return path_.substr(path_.rfind('/') + 1); }

}  // namespace telemetry::worker::forward
