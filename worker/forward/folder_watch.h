#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace telemetry::forward {

// Waits for files to change below some folders (inotify), new folders included. Not thread-safe.
class FolderWatch {
 public:
  struct Changes {
    std::vector<std::string> paths;  // files that were made, written, renamed or removed
    bool all = false;                // changes were missed, or the time is up: look at everything
    bool stop = false;               // stop_fd became readable
  };

  // `stop_fd`: a descriptor that ends a wait. UNAVAILABLE: the system has no inotify instance left (the message names
  // the setting).
  static absl::StatusOr<std::unique_ptr<FolderWatch>> Create(int stop_fd);
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  // Watches the folder and, with `below`, those below it; again is allowed. A folder that is not there, or may not be
  // read, is passed over. RESOURCE_EXHAUSTED: the system's limit of watches is reached (the message names the setting).
  absl::Status Add(const std::string& folder, bool below);

  // Returns at the first changes, at the latest after `limit` (then with `all`).
  absl::StatusOr<Changes> Wait(absl::Duration limit);

 private:
  FolderWatch(int inotify_fd, int stop_fd) : inotify_fd_(inotify_fd), stop_fd_(stop_fd) {}
  absl::Status ReadEvents(Changes* changes);

  int inotify_fd_;
  int stop_fd_;
  struct Folder {
    std::string path;
    bool below = false;
  };
  absl::flat_hash_map<int, Folder> folders_;  // by watch descriptor
};

}  // namespace telemetry::forward
