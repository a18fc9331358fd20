#include "server/storage/sqlite/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/sqlite/dataset_path.h"

namespace telemetry::storage::sqlite {
namespace {

constexpr mode_t kOwner = S_IRUSR | S_IWUSR;
constexpr const char* kSuffixes[] = {"", "-wal", "-shm", ".acked", ".seals", ".lock"};

// Returns false for a file of another program that was named by mistake: it is left unchanged. A new database is empty
// at first.
bool MayBeDatabase(const std::string& path) {
  constexpr std::string_view kHead("SQLite format 3\0", 16);
  std::ifstream file(path, std::ios::binary);
  char head[kHead.size()] = {};
  file.read(head, sizeof head);
  return file.gcount() == 0 || std::string_view(head, file.gcount()) == kHead;
}

}  // namespace

absl::Status MakePrivateFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string real_path, RealPath(path));
  // O_EXCL, because closing a descriptor of an existing file would release this process's POSIX locks on it.
  const int fd = open(real_path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kOwner);
  if (fd >= 0) {
    close(fd);
    return absl::OkStatus();
  }
  return errno == EEXIST ? absl::OkStatus() : absl::ErrnoToStatus(errno, absl::StrCat("cannot create ", real_path));
}

std::vector<std::string> TightenDataset(const std::string& path) {
  std::vector<std::string> tightened;
  const absl::StatusOr<std::string> real_path = RealPath(path);
  if (!real_path.ok()) return tightened;
  for (const char* const suffix : kSuffixes) {
    const std::string name = *real_path + suffix;
    struct stat file = {};
    if (lstat(name.c_str(), &file) != 0 || !S_ISREG(file.st_mode) || (file.st_mode & S_IRWXO) == 0) continue;
    // The file is examined only if it must be changed: closing a descriptor of it would release this process's POSIX
    // locks on a database that is in use.
    if (tightened.empty() && !MayBeDatabase(*real_path)) return tightened;
    if (file.st_uid == geteuid() && chmod(name.c_str(), kOwner) == 0) tightened.push_back(name);
  }
  return tightened;
}

}  // namespace telemetry::storage::sqlite
