#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/storage/prune_rules.h"

namespace telemetry::storage {

struct PruneReport {
  std::vector<PrunedAttempt> attempts;
  int64_t rejects = 0;
  int64_t bytes_before = 0;
  int64_t bytes_after = 0;  // of a dry run: as before
  absl::Duration served;    // what ages are counted in, without a clock
};

struct PruneOptions {
  PruneRules rules;
  // What a clock says that is right, and was right whenever something arrived: ages are taken from it. nullopt: from
  // ServedTime.
  std::optional<absl::Time> trusted_now;
  bool dry_run = false;  // changes nothing; also while a collector serves the dataset
};

// Prunes a dataset that no collector serves. FAILED_PRECONDITION: the clock is wrong after all (ReachByClock). Other
// errors are OpenSqliteWriter's and OpenSqliteReader's.
absl::StatusOr<PruneReport> PruneDataset(const std::string& path, const PruneOptions& options);

}  // namespace telemetry::storage
