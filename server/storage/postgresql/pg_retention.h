#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/storage/postgresql/pg_advisory_lock.h"
#include "server/storage/postgresql/pg_database.h"
#include "server/storage/postgresql/pg_dataset_space.h"
#include "server/storage/postgresql/pg_removed_rows.h"
#include "server/storage/prune_rules.h"
#include "server/storage/tables/attempt_remover.h"
#include "server/storage/tables/pruner.h"

namespace telemetry::storage::postgresql {

// The retention of a dataset on a PostgreSQL server, of which one collector at a time makes a pass. Not thread-safe.
//
// A step takes 10 to 20 ms, however large an attempt is, and never waits for a lock. A step that removes attempts
// deletes only their rows of the table attempts. No query finds their other rows without them, and the following steps
// delete these.
class PgRetention {
 public:
  // Each reject is a statement, and each attempt several.
  static constexpr tables::PruneStepLimits kLimits = {.rejects = 100,
                                                      .reject_bytes = int64_t{4} << 20,
                                                      .rejects_looked_at = 2000,
                                                      .rows = 2000,
                                                      .attempts = 16,
                                                      .rows_counted = 2000};

  // `database` must outlive this object.
  explicit PgRetention(PgDatabase& database, const tables::PruneStepLimits& limits = kLimits)
      : database_(database), limits_(limits), lock_(database, PgTask::kPrune) {}

  // Takes one step of a pass in the caller's transaction; begins a pass if none is in progress. Returns nullopt if
  // another process is making a pass. After an error, or if the transaction was not committed, the caller calls
  // Forget(). `trusted_now` is the current time if ages are to be computed from arrival times.
  absl::StatusOr<std::optional<PruneStep>> Step(const PruneRules& rules,
                                                std::optional<absl::Time> trusted_now = std::nullopt);
  // Gives up the pass. The next step begins another one.
  void Forget() { pass_.reset(); }
  // Ends the pass after the commit of its last step (PruneStep::done), so that another process can make one.
  absl::Status End();

 private:
  struct Pass {
    Pass(PgDatabase& database, const PruneRules& rules, const tables::PruneReach& reach,
         const tables::PruneStepLimits& limits);

    PgDatasetSpace space;
    tables::AttemptRemover remover;
    tables::Pruner pruner;
    PgRemovedRows removed_rows;
    bool are_rows_left = true;  // of removed attempts, perhaps of those of a process that was killed
  };

  absl::Status BeginPass(const PruneRules& rules, std::optional<absl::Time> trusted_now);
  absl::StatusOr<PruneStep> StepOfPass();

  PgDatabase& database_;
  const tables::PruneStepLimits limits_;
  PgAdvisoryLock lock_;
  std::optional<Pass> pass_;
};

}  // namespace telemetry::storage::postgresql
