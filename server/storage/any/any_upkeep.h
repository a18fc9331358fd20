#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/storage/upkeep/check.h"
#include "server/storage/upkeep/prune.h"
#include "server/storage/upkeep/stats.h"

namespace telemetry::storage::any {

// Act on the dataset that --db names, as the functions of server/storage/upkeep for its kind of database do.
absl::StatusOr<upkeep::DatasetStats> ReadStats(const std::string& db);
absl::StatusOr<upkeep::CheckReport> CheckDataset(const std::string& db);
absl::StatusOr<upkeep::PruneReport> PruneDataset(const std::string& db, const upkeep::PruneOptions& options);

}  // namespace telemetry::storage::any
