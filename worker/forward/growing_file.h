#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace telemetry::forward {

// Reads a file that others append to, each byte once. Notices when the file is no longer the one whose beginning was
// read: another inode, shorter than before, or other bytes at its beginning or just before the place read up to. Not
// thread-safe. The file need not exist yet.
class GrowingFile {
 public:
  enum class Change { kNone, kGrown, kReplaced };

  explicit GrowingFile(std::string path) : path_(std::move(path)) {}

  // Replaces `*bytes` with what came since the last call, at most kChunkBytes. kNone: nothing, also when there is no
  // such file. kReplaced: nothing was read; call Restart and read from the beginning.
  // PERMISSION_DENIED, UNAVAILABLE: the file cannot be read; the message names it.
  absl::StatusOr<Change> Read(std::string* bytes);

  void Restart();

  const std::string& path() const { return path_; }
  // The name without its folder.
  std::string name() const;
  uint64_t offset() const { return offset_; }

  static constexpr size_t kChunkBytes = size_t{1} << 20;

 private:
  static constexpr size_t kProbeBytes = 512;

  std::string path_;
  uint64_t offset_ = 0;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::string head_;  // the first bytes that were read, at most kProbeBytes
  std::string tail_;  // the last ones
};

}  // namespace telemetry::forward
