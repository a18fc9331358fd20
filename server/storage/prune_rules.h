#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace telemetry::storage {

// What may leave the dataset. An attempt goes whole, the one that arrived first goes first. Whatever the rules, there
// stay a run's newest attempt (unless also_only_attempts), and attempts that began to arrive in the last kOpenFor and
// have not ended: their producer may still send rows. How old something is, ServedTime says, and no clock.
struct PruneRules {
  absl::Duration keep_age = absl::InfiniteDuration();  // older attempts go, and older rejects but the newest
  // Limit of the bytes in use, without those of rejects: the oldest attempts go until it is met.
  int64_t keep_bytes = INT64_MAX;
  // Limit of the bytes of each sender's rejects: its oldest ones go, but never the newest reject of all. 0: no limit.
  // Producers without a name are one sender.
  int64_t keep_rejects_bytes = 0;
  bool also_only_attempts = false;  // and with them runs, their graphs and their kernels

  bool is_empty() const {
    return keep_age == absl::InfiniteDuration() && keep_bytes == INT64_MAX && keep_rejects_bytes == 0;
  }
};

inline constexpr absl::Duration kOpenFor = absl::Hours(7 * 24);

struct PrunedAttempt {
  int64_t attempt = 0;  // its key
  int64_t run = 0;      // its run's key
  std::string attempt_id;
  std::string run_id;
  std::string kernel_name;
  int64_t first_received_unix_us = 0;
  int64_t rows = 0;
};

// What one transaction removed.
struct PruneStep {
  std::vector<PrunedAttempt> attempts;
  int64_t rejects = 0;
  int64_t bytes = 0;         // of pages that hold nothing any more; new records are put there
  int64_t used_bytes = 0;    // of pages that still hold something
  int64_t reject_bytes = 0;  // of these what rejects take, about; known when the pass is over
  bool done = false;         // the pass is over
};

}  // namespace telemetry::storage
