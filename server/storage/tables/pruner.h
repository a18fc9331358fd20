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

// Returns the bytes of pages that are in use.
absl::StatusOr<int64_t> UsedBytes(sql::Database& database);
// Returns the bytes that the entries of the cache occupy, approximately.
absl::StatusOr<int64_t> CachedBytes(sql::Database& database);

// One pass over the dataset by the rules, on the writer's connection: first over the rejects, newest first, then over
// the attempts, oldest first. Removed rows leave free pages, which are reused; the file does not shrink. Not
// thread-safe.
class Pruner {
 public:
  // Limits of a step over rejects. A step over attempts has the limits of AttemptRemover. Either step takes about ten
  // milliseconds.
  static constexpr int64_t kRejectsAtOnce = 1000;
  static constexpr int64_t kRejectBytesAtOnce = int64_t{16} << 20;
  static constexpr int64_t kRejectsLookedAt = 4000;

  // `database` must outlive this object.
  Pruner(sql::Database& database, const PruneRules& rules, const PruneReach& reach);

  // Returns the attempts that the pass would remove, in that order. For keep_bytes it is an estimate from the rows'
  // share of the bytes. Only reads.
  absl::StatusOr<std::vector<PrunedAttempt>> Plan();

  // Takes one step of the pass, in a transaction of its own. After an error nothing is known to be durable.
  absl::StatusOr<PruneStep> RemoveSome();

 private:
  // Selects at most `most` attempts from key `first` to `last` that may be removed.
  sql::Statement& Candidates(int64_t first, int64_t last, int64_t most);
  // Adds to `step`. Returns true if no attempt is left to remove.
  absl::StatusOr<bool> RemoveAttempts(int64_t used_bytes, PruneStep& step);
  // Does the same for rejects.
  absl::StatusOr<bool> RemoveRejects(PruneStep& step);
  // Finds the next rejects to remove. Returns true if there are no further rejects.
  absl::StatusOr<bool> NextRejects(std::vector<int64_t>& found);
  // Counts the rejects that arrived since the last count, so that these do not cost an attempt its space either.
  absl::Status CountNewRejects();
  bool IsTooMuch(int64_t used_bytes) const { return used_bytes - reject_bytes_ - cache_bytes_ > rules_.keep_bytes; }
  absl::Status Remove(const PrunedAttempt& attempt);

  sql::Database& database_;
  const PruneRules rules_;
  const PruneReach reach_;
  int64_t looked_at_ = 0;  // attempts up to this key were examined
  bool rejects_done_ = false;
  int64_t rejects_below_ = INT64_MAX;                             // rejects from this key on were examined
  int64_t newest_reject_ = 0;                                     // rejects up to this key are counted
  int64_t reject_bytes_ = 0;                                      // of rejects that stay
  int64_t cache_bytes_ = 0;                                       // of the cache
  absl::flat_hash_map<int64_t, int64_t> reject_bytes_by_sender_;  // of rejects that were examined
  sql::Statement candidates_;
  AttemptRemover remover_;
};

}  // namespace telemetry::storage::tables
