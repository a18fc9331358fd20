#include "server/storage/any/any_upkeep.h"

#include "server/storage/any/any_store.h"

namespace telemetry::storage::any {

absl::StatusOr<upkeep::DatasetStats> ReadStats(const std::string& db) {
  return IsPostgresqlUrl(db) ? upkeep::ReadPgStats(db) : upkeep::ReadStats(db);
}

absl::StatusOr<upkeep::CheckReport> CheckDataset(const std::string& db) {
  return IsPostgresqlUrl(db) ? upkeep::CheckPgDataset(db) : upkeep::CheckDataset(db);
}

absl::StatusOr<upkeep::PruneReport> PruneDataset(const std::string& db, const upkeep::PruneOptions& options) {
  return IsPostgresqlUrl(db) ? upkeep::PrunePgDataset(db, options) : upkeep::PruneDataset(db, options);
}

}  // namespace telemetry::storage::any
