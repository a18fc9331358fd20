#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace telemetry::storage {

// The rules for removing old data. Attempts are removed completely, in the order of arrival. Two kinds of attempts
// always stay: the newest attempt of each run (unless also_only_attempts), and attempts that began to arrive within the
// last kOpenFor and have not ended, since their producer may still send rows. Ages are computed from ServedTime, never
// from a clock.
struct PruneRules {
  absl::Duration keep_age =
      absl::InfiniteDuration();  // older attempts are removed, and older rejects except the newest one
  // Limit of the bytes in use, without those of rejects and of the cache. The oldest attempts are removed until the
  // limit is met.
  int64_t keep_bytes = INT64_MAX;
  // Limit of the bytes of each sender's rejects: its oldest ones are removed, but never the newest reject of all. 0: no
  // limit. Producers without a name count as one sender.
  int64_t keep_rejects_bytes = 0;
  bool also_only_attempts = false;  // also removes a run's only attempt, with the run, its graphs and its kernel

  bool is_empty() const {
    return keep_age == absl::InfiniteDuration() && keep_bytes == INT64_MAX && keep_rejects_bytes == 0;
  }
};

inline constexpr absl::Duration kOpenFor = absl::Hours(7 * 24);

// An attempt that was removed, or would be removed by a dry run.
struct PrunedAttempt {
  int64_t attempt = 0;  // primary key
  int64_t run = 0;      // primary key of its run
  std::string attempt_id;
  std::string run_id;
  std::string kernel_name;
  int64_t first_received_unix_us = 0;
  int64_t rows = 0;             // measurements
  int64_t events = 0;           // attempt events
  bool is_run_unknown = false;  // the run is a stand-in, which is removed with the attempt
};

// The rows that one transaction removed.
struct PruneStep {
  std::vector<PrunedAttempt> attempts;
  int64_t rows = 0;  // measurements that were deleted
  int64_t rejects = 0;
  int64_t bytes = 0;          // that became free; new records reuse them
  int64_t used_bytes = 0;     // that are still in use; on PostgreSQL an estimate
  int64_t counted_bytes = 0;  // the part that keep_bytes limits; known when the pass is done
  bool done = false;          // the pass is complete
  bool is_elsewhere = false;  // nothing was done, because another process is making a pass
};

}  // namespace telemetry::storage
