#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/storage/prune_rules.h"

namespace telemetry::storage::upkeep {

// The result of PruneDataset().
struct PruneReport {
  std::vector<PrunedAttempt> attempts;
  int64_t rejects = 0;
  int64_t bytes_before = 0;  // in use; on PostgreSQL an estimate
  int64_t bytes_after = 0;   // a dry run leaves it equal to bytes_before
  absl::Duration served;     // the total served time (ServedTime), from which ages are computed
};

// Options of PruneDataset().
struct PruneOptions {
  PruneRules rules;
  // The current time, if the caller vouches that the clock is right and was right whenever records arrived; ages are
  // then computed from it. nullopt: ages are computed from ServedTime.
  std::optional<absl::Time> trusted_now;
  bool dry_run = false;  // changes nothing; allowed while a collector serves the dataset
};

// Prunes a dataset in a SQLite file that no collector serves. Returns FAILED_PRECONDITION if the clock turns out to be
// wrong (ReachByClock), and errors of OpenSqliteWriter and OpenSqliteReader.
absl::StatusOr<PruneReport> PruneDataset(const std::string& path, const PruneOptions& options);

// Prunes a dataset on a PostgreSQL server, also while collectors serve it, then vacuums its tables and updates their
// statistics. Returns ALREADY_EXISTS while a collector or another command is pruning, FAILED_PRECONDITION as above, and
// errors of OpenPostgresqlReader.
absl::StatusOr<PruneReport> PrunePgDataset(const std::string& url, const PruneOptions& options);

}  // namespace telemetry::storage::upkeep
