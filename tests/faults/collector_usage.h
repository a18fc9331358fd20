#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"

namespace telemetry::faults {

// Returns the number of files that a process has open.
size_t OpenFiles(pid_t pid);

// The peaks of a collector's open files and of the bytes in its folder, sampled ten times a second during the lifetime
// of this object. Thread-safe.
class CollectorUsage {
 public:
  CollectorUsage(pid_t pid, std::string folder);
  ~CollectorUsage();
  CollectorUsage(const CollectorUsage&) = delete;
  CollectorUsage& operator=(const CollectorUsage&) = delete;

  size_t most_files() const ABSL_LOCKS_EXCLUDED(mutex_);
  uint64_t most_disk_bytes() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Look() ABSL_LOCKS_EXCLUDED(mutex_);

  const pid_t pid_;
  const std::string folder_;
  mutable absl::Mutex mutex_;
  size_t most_files_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t most_disk_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Notification end_;
  std::thread thread_;
};

}  // namespace telemetry::faults
