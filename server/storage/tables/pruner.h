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

namespace telemetry::storage {

// What is old enough for a pass: by keys, since they are in the order of arrival.
struct PruneReach {
  OldKeys old;           // older than keep_age
  int64_t given_up = 0;  // attempts up to this key are older than kOpenFor: nobody will end them
};

// By ServedTime.
absl::StatusOr<PruneReach> ReachOf(Database& database, const PruneRules& rules);
// By the times of arrival, where somebody says that the clock was right then and is right now. FAILED_PRECONDITION: by
// it everything is too old, or something arrived in the future.
absl::StatusOr<PruneReach> ReachByClock(Database& database, const PruneRules& rules, absl::Time now);

// Bytes of pages that hold something.
absl::StatusOr<int64_t> UsedBytes(Database& database);

// One pass over the dataset by the rules, on the writer's connection: first the rejects, from the newest on, then the
// attempts, from the oldest on. Removed rows leave free pages, which are used again; the file does not shrink. For one
// thread.
class Pruner {
 public:
  // Each step ends with the attempt with which it has removed as much as AttemptRemover says, or with the reject with
  // which it has removed or seen so many rejects or bytes of them: some ten milliseconds, too.
  static constexpr int64_t kRejectsAtOnce = 1000;
  static constexpr int64_t kRejectBytesAtOnce = int64_t{16} << 20;
  static constexpr int64_t kRejectsLookedAt = 4000;

  // `database` must outlive this.
  Pruner(Database& database, const PruneRules& rules, const PruneReach& reach);

  // What the pass would remove, in that order; by size as far as the rows' share of the bytes says. Reads only.
  absl::StatusOr<std::vector<PrunedAttempt>> Plan();

  // Removes some of it in one transaction of its own. After an error nothing is known to be durable.
  absl::StatusOr<PruneStep> RemoveSome();

 private:
  // Of the attempts from key `first` to `last` those that may go, at most so many.
  Statement& Candidates(int64_t first, int64_t last, int64_t most);
  // Adds to `step`; true: no attempt is left that would go.
  absl::StatusOr<bool> RemoveAttempts(int64_t used_bytes, PruneStep& step);
  // The same for rejects.
  absl::StatusOr<bool> RemoveRejects(PruneStep& step);
  // Finds the rejects that are to go among the next ones; true: there are no further ones.
  absl::StatusOr<bool> NextRejects(std::vector<int64_t>& found);
  // Counts those that arrived since they were last counted: they, too, must not cost an attempt its place.
  absl::Status CountNewRejects();
  bool IsTooMuch(int64_t used_bytes) const { return used_bytes - reject_bytes_ > rules_.keep_bytes; }
  absl::Status Remove(const PrunedAttempt& attempt);

  Database& database_;
  const PruneRules rules_;
  const PruneReach reach_;
  int64_t looked_at_ = 0;  // all attempts up to this key
  bool rejects_done_ = false;
  int64_t rejects_below_ = INT64_MAX;                             // those from this key on were looked at
  int64_t newest_reject_ = 0;                                     // those up to this key are counted
  int64_t reject_bytes_ = 0;                                      // of those that stay
  absl::flat_hash_map<int64_t, int64_t> reject_bytes_by_sender_;  // of those that were looked at
  Statement candidates_;
  AttemptRemover remover_;
};

}  // namespace telemetry::storage
