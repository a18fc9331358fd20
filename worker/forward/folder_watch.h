#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace telemetry::worker::forward {

// Watches folders for changed files with inotify, including new folders. Not thread-safe.
class FolderWatch {
 public:
  // The changes that ended a wait.
  struct Changes {
    std::vector<std::string> paths;  // files that were created, written, renamed or removed
    bool all = false;                // changes were missed or the limit has expired: check all files
    bool stop = false;               // stop_fd became readable
  };

  // Creates a watch without folders. A wait ends when `stop_fd` becomes readable. Returns UNAVAILABLE if the system has
  // no free inotify instance; the message names the setting.
  static absl::StatusOr<std::unique_ptr<FolderWatch>> Create(int stop_fd);
  // Creates a watch that uses no inotify and reports no changes: every wait lasts until its limit.
  static std::unique_ptr<FolderWatch> CreatePolling(int stop_fd);
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  // Watches the folder and, with `below`, all folders below it. May be called again for the same folder. A folder that
  // is missing or unreadable is skipped. Returns RESOURCE_EXHAUSTED if the system's limit of watches is reached; the
  // message names the setting.
  absl::Status Add(const std::string& folder, bool below);

  // Blocks until the first changes or until `limit` has passed, in which case `all` is set.
  absl::StatusOr<Changes> Wait(absl::Duration limit);

 private:
  FolderWatch(int inotify_fd, int stop_fd) : inotify_fd_(inotify_fd), stop_fd_(stop_fd) {}
  absl::Status ReadEvents(Changes* changes);

  int inotify_fd_;
  int stop_fd_;
  // A watched folder.
  struct Folder {
    std::string path;
    bool below = false;
  };
  absl::flat_hash_map<int, Folder> folders_;  // indexed by watch descriptor
};

}  // namespace telemetry::worker::forward
