#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"

namespace telemetry::access {

// The identity, size and times of a file. They differ after a new file was renamed into place, and after an edit of the
// file, which keeps its inode.
struct FileStamp {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t size = 0;
  absl::Time modified = absl::UnixEpoch();
  absl::Time changed = absl::UnixEpoch();  // also after a change of the name or the owner

  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// Returns nullopt if there is no such file or the system does not report its status.
std::optional<FileStamp> ReadFileStamp(const std::string& path);

}  // namespace telemetry::access
