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
#include "proto/clock/periodic.h"

namespace telemetry::collector {

// The bytes that are free, for this user, on the file system of a file that may be yet to be made.
absl::StatusOr<uint64_t> FreeDiskBytes(const std::string& path);

struct DiskGuardOptions {
  std::string path;  // of the dataset
  // Below this nothing new is taken. 0: whatever is free will do.
  uint64_t keep_free_bytes = 0;
  // What those that are turned away are told to wait.
  absl::Duration retry_delay = absl::Seconds(1);
  // How often a thread looks; Look does so at once.
  absl::Duration interval = absl::Seconds(1);
  std::function<absl::StatusOr<uint64_t>(const std::string& path)> free_bytes = &FreeDiskBytes;
};

// Keeps some of the dataset's disk free: turns new records away before the disk is full, since a commit that finds it
// full ends the process. There is room again when an eighth more than that is free. A disk that cannot be looked at
// leaves all as it was. Thread-safe.
class DiskGuard {
 public:
  struct State {
    std::optional<uint64_t> free_bytes;  // nothing: could not be read
    uint64_t keep_free_bytes = 0;
    uint64_t turned_away = 0;  // calls, so far
  };
  // Called with each change, one at a time, from a thread that looks. It must not call back.
  using OnChange = std::function<void(bool has_room)>;

  explicit DiskGuard(DiskGuardOptions options);
  // As Stop.
  ~DiskGuard();

  // Looks now, then at each interval. Once only.
  void Start(OnChange on_change) ABSL_LOCKS_EXCLUDED(looking_, mutex_);
  // No call of on_change is under way any more, and none will come.
  void Stop() ABSL_LOCKS_EXCLUDED(looking_);

  void Look() ABSL_LOCKS_EXCLUDED(looking_, mutex_);

  // What the last look said to so many calls. RESOURCE_EXHAUSTED with RetryInfo: they have to wait for room; the
  // message says which disk, how much is free and what to do.
  absl::Status Check(uint64_t calls = 1) ABSL_LOCKS_EXCLUDED(mutex_);

  State state() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Why nothing new is taken, of what is free now; OK: there is room.
  absl::Status Judge(uint64_t free_bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const DiskGuardOptions options_;
  const std::string disk_;  // where it is mounted

  absl::Mutex looking_ ABSL_ACQUIRED_BEFORE(mutex_);  // one looks at a time, however long the disk takes
  OnChange on_change_ ABSL_GUARDED_BY(looking_);

  mutable absl::Mutex mutex_;
  std::optional<uint64_t> free_bytes_ ABSL_GUARDED_BY(mutex_);
  absl::Status full_ ABSL_GUARDED_BY(mutex_);
  uint64_t turned_away_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<Periodic> looks_;  // last: it uses all of the above
};

}  // namespace telemetry::collector
