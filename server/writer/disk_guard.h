#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/base/periodic.h"

namespace telemetry::writer {

// Returns the bytes that this user may still write on the file system of `path`. The file itself need not exist yet.
absl::StatusOr<uint64_t> FreeDiskBytes(const std::string& path);

// The file that a guard watches, and its limit.
struct DiskGuardOptions {
  std::string path;  // of the dataset's file
  // While fewer bytes are free, the guard refuses new records. 0: records are refused only when the disk is full.
  uint64_t keep_free_bytes = 0;
  // The delay that refused callers receive in RetryInfo.
  absl::Duration retry_delay = absl::Seconds(1);
  // The interval at which a thread checks the disk. Look checks it immediately.
  absl::Duration interval = absl::Seconds(1);
  std::function<absl::StatusOr<uint64_t>(const std::string& path)> free_bytes = &FreeDiskBytes;
};

// Keeps part of the dataset's disk free: refuses new records before the disk is full, because a commit that finds it
// full ends the process. Records are accepted again when the free space exceeds the limit by an eighth. If the free
// space cannot be read, the last decision stays in force. Thread-safe.
class DiskGuard {
 public:
  struct State {
    std::optional<uint64_t> free_bytes;  // unset: could not be read
    uint64_t keep_free_bytes = 0;
    uint64_t turned_away = 0;  // calls refused so far
  };
  // Called after each change, from the thread that checks the disk, never concurrently. Must not call the guard.
  using OnChange = std::function<void(bool has_room)>;

  explicit DiskGuard(DiskGuardOptions options);
  // Calls Stop().
  ~DiskGuard();

  // Checks the disk now and then at each interval. Must be called once only.
  void Start(OnChange on_change) ABSL_LOCKS_EXCLUDED(looking_, mutex_);
  // Stops checking. On return no call of on_change is running, and none will follow.
  void Stop() ABSL_LOCKS_EXCLUDED(looking_);

  void Look() ABSL_LOCKS_EXCLUDED(looking_, mutex_);

  // Returns the result of the last check and, if it is an error, counts `calls` refused calls. RESOURCE_EXHAUSTED with
  // RetryInfo: the disk has no room; the message names the disk, the free space and the remedy.
  absl::Status Check(uint64_t calls = 1) ABSL_LOCKS_EXCLUDED(mutex_);

  State state() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Returns OK if `free_bytes` is enough to accept records, otherwise the error for the callers.
  absl::Status Judge(uint64_t free_bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const DiskGuardOptions options_;
  const std::string disk_;  // the mount point of the dataset's file system

  absl::Mutex looking_ ABSL_ACQUIRED_BEFORE(mutex_);  // serialises the checks, however long the disk takes
  OnChange on_change_ ABSL_GUARDED_BY(looking_);

  mutable absl::Mutex mutex_;
  std::optional<uint64_t> free_bytes_ ABSL_GUARDED_BY(mutex_);
  absl::Status full_ ABSL_GUARDED_BY(mutex_);
  uint64_t turned_away_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<Periodic> looks_;  // last member: its thread uses all of the above
};

}  // namespace telemetry::writer
