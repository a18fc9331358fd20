#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/storage/prune_rules.h"
#include "server/storage/sql/database.h"
#include "server/storage/sql/statement.h"
#include "server/storage/tables/attempt_remover.h"
#include "server/storage/tables/dataset_space.h"
#include "server/storage/tables/served_time.h"

namespace telemetry::storage::tables {

// The attempts and rejects that are old enough for a pass, as keys: keys are in the order of arrival.
struct PruneReach {
  OldKeys old;           // older than keep_age
  int64_t given_up = 0;  // attempts up to this key are older than kOpenFor: no producer will end them
};

// Computes the reach from ServedTime.
absl::StatusOr<PruneReach> ComputeReach(sql::Database& database, const PruneRules& rules);
// Computes the reach from arrival times, if the caller vouches that the clock was right then and is right now. Returns
// FAILED_PRECONDITION if by this clock everything is too old, or something arrived in the future.
absl::StatusOr<PruneReach> ReachByClock(sql::Database& database, const PruneRules& rules, absl::Time now);

// Limits of a step of the Pruner, so that writers do not wait long for it.
struct PruneStepLimits {
  int64_t rejects = 1000;
  int64_t reject_bytes = int64_t{16} << 20;
  int64_t rejects_looked_at = 4000;
  // The step ends with the attempt that reaches this number of removed rows.
  int64_t rows = AttemptRemover::kRowsAtOnce;
  int64_t attempts = AttemptRemover::kAttemptsAtOnce;
  // The rows of a larger attempt are counted up to this number only.
  int64_t rows_counted = INT64_MAX;
};

// One pass over the dataset by the rules, on the writer's connection: first over the rejects, newest first, then over
// the attempts, oldest first. The space of removed rows is reused; files do not shrink. Other writers may change the
// dataset meanwhile. Not thread-safe.
class Pruner {
 public:
  // `database`, `space` and `remover` must outlive this object. The default limits suit SQLite, which needs about ten
  // milliseconds for a step.
  Pruner(sql::Database& database, DatasetSpace& space, AttemptRemover& remover, const PruneRules& rules,
         const PruneReach& reach, const PruneStepLimits& limits = {});

  // Returns the attempts that the pass would remove, in that order. For keep_bytes it is an estimate from the rows'
  // share of the bytes. Only reads.
  absl::StatusOr<std::vector<PrunedAttempt>> Plan();

  // Takes one step of the pass, in a transaction of its own, or in the caller's. After an error nothing is known to be
  // durable, and the pass must not be continued.
  absl::StatusOr<PruneStep> RemoveSome();
  absl::StatusOr<PruneStep> RemoveSomeInTransaction();

 private:
  // Selects at most `most` attempts from key `first` to `last` that may be removed.
  sql::Statement& Candidates(int64_t first, int64_t last, int64_t most);
  // Adds to `step`. Returns true if no attempt is left to remove.
  absl::StatusOr<bool> RemoveAttempts(PruneStep& step);
  // Returns the next attempts that may be removed, within the limits of a step, with the numbers of their rows.
  absl::StatusOr<std::vector<PrunedAttempt>> NextAttempts(int64_t first);
  // Counts the rows of an attempt that become free with it.
  absl::Status CountRows(PrunedAttempt& attempt);
  // Returns whether the rules do not keep the attempt.
  absl::StatusOr<bool> MayGo(int64_t attempt);
  // Does the same for rejects.
  absl::StatusOr<bool> RemoveRejects(PruneStep& step);
  // Finds the next rejects to remove. Returns true if there are no further rejects.
  absl::StatusOr<bool> NextRejects(std::vector<int64_t>& found);
  // Counts the rejects that arrived since the last count, so that these do not cost an attempt its space either.
  absl::Status CountNewRejects();
  int64_t CountedBytes(int64_t used_bytes) const {
    return used_bytes - space_.UncountedBytes(reject_bytes_ + cache_bytes_);
  }
  // Removes the attempt unless it has changed and may no longer be removed. Returns whether it was removed.
  absl::StatusOr<bool> Remove(const PrunedAttempt& attempt);

  sql::Database& database_;
  DatasetSpace& space_;
  AttemptRemover& remover_;
  const PruneRules rules_;
  const PruneReach reach_;
  const PruneStepLimits limits_;
  int64_t looked_at_ = 0;  // attempts up to this key were examined
  bool rejects_done_ = false;
  int64_t rejects_below_ = INT64_MAX;                             // rejects from this key on were examined
  int64_t newest_reject_ = 0;                                     // rejects up to this key are counted
  int64_t reject_bytes_ = 0;                                      // of rejects that stay
  int64_t cache_bytes_ = 0;                                       // of the cache and the cost models
  absl::flat_hash_map<int64_t, int64_t> reject_bytes_by_sender_;  // of rejects that were examined
  sql::Statement candidates_;
  sql::Statement count_measurements_;
  sql::Statement count_events_;
};

}  // namespace telemetry::storage::tables
