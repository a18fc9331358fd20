#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace telemetry::worker::forward {

// A reader of a file to which other processes append. It reads each byte once. It detects a replaced file by another
// inode, a smaller size, or different bytes at the beginning or just before the read offset. The file need not exist
// yet. A file that was renamed within its folder, as log rotation does, is read on under its new name. Not thread-safe.
class GrowingFile {
 public:
  enum class Change { kNone, kGrown, kReplaced };

  explicit GrowingFile(std::string path) : path_(std::move(path)) {}

  // Replaces `*bytes` with the bytes added since the last call, at most kChunkBytes. Returns kNone if there are none or
  // the file does not exist. Returns kReplaced without reading if the file was replaced; call Restart() and read from
  // the beginning. Returns PERMISSION_DENIED or UNAVAILABLE if the file cannot be read; the message names the file.
  absl::StatusOr<Change> Read(std::string* bytes);

  void Restart();

  // Returns true if the file was renamed after its first bytes were read.
  bool is_renamed() const { return renamed_to_.has_value(); }
  const std::string& path() const { return path_; }
  // Returns the name without its folder.
  std::string name() const;
  uint64_t offset() const { return offset_; }

  static constexpr size_t kChunkBytes = size_t{1} << 20;

 private:
  static constexpr size_t kProbeBytes = 512;
  struct Opened;

  // Opens the file, which may have been renamed. No value: it does not exist.
  absl::StatusOr<std::optional<Opened>> Open();
  bool IsOther(const Opened& opened) const;
  // Looks for the file that was read so far in the folder that it was in. Sets renamed_to_ if it is there. Does nothing
  // if `opened`, which has its name now, is as at the last search.
  void FindRenamed(const Opened& opened);

  std::string path_;
  std::string folder_;                          // the folder of the file at the first read, without symbolic links
  std::optional<std::string> renamed_to_;       // path of the file after it was renamed
  std::pair<std::string, ino_t> searched_for_;  // the path, and the inode there, at the last search
  uint64_t offset_ = 0;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::string head_;  // the first bytes of the file, at most kProbeBytes
  std::string tail_;  // the last bytes before offset_, at most kProbeBytes
};

}  // namespace telemetry::worker::forward
