#include "server/access/file_stamp.h"

#include <sys/stat.h>

namespace telemetry::access {

std::optional<FileStamp> ReadFileStamp(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileStamp{.device = status.st_dev,
                   .inode = status.st_ino,
                   .size = status.st_size,
                   .modified = absl::TimeFromTimespec(status.st_mtim),
                   .changed = absl::TimeFromTimespec(status.st_ctim)};
}

}  // namespace telemetry::access
