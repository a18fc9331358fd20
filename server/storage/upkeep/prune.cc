#include "server/storage/upkeep/prune.h"

#include <iterator>
#include <utility>

#include "proto/base/status_macros.h"
#include "server/storage/sqlite/dataset_file.h"
#include "server/storage/sqlite/dataset_path.h"
#include "server/storage/sqlite/lock_file.h"
#include "server/storage/tables/pruner.h"
#include "server/storage/tables/served_time.h"

namespace telemetry::storage::upkeep {
namespace {

absl::Status RemoveAll(tables::Pruner& pruner, PruneReport& report) {
  bool done = false;
  while (!done) {
    ASSIGN_OR_RETURN(PruneStep step, pruner.RemoveSome());
    std::move(step.attempts.begin(), step.attempts.end(), std::back_inserter(report.attempts));
    report.rejects += step.rejects;
    done = step.done;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PruneReport> PruneDataset(const std::string& path, const PruneOptions& options) {
  RETURN_IF_ERROR(sqlite::RequireFile(path));
  std::optional<sqlite::LockFile> lock;
  if (!options.dry_run) {
    ASSIGN_OR_RETURN(sqlite::LockFile taken, sqlite::LockFile::Acquire(path));
    lock.emplace(std::move(taken));
  }
  ASSIGN_OR_RETURN(sqlite::SqliteDatabase database,
                   options.dry_run ? sqlite::OpenDatasetForReading(path, {}) : sqlite::OpenDatasetForWriting(path, {}));
  ASSIGN_OR_RETURN(const tables::PruneReach reach,
                   options.trusted_now ? tables::ReachByClock(database, options.rules, *options.trusted_now)
                                       : tables::ComputeReach(database, options.rules));
  ASSIGN_OR_RETURN(const absl::Duration served, tables::ServedTime(database).Total());
  absl::StatusOr<int64_t> used = tables::UsedBytes(database);
  if (!used.ok()) return used.status();
  PruneReport report = {.bytes_before = *used, .bytes_after = *used, .served = served};
  tables::Pruner pruner(database, options.rules, reach);
  if (options.dry_run) {
    ASSIGN_OR_RETURN(std::vector<PrunedAttempt> planned, pruner.Plan());
    report.attempts = std::move(planned);
    return report;
  }
  RETURN_IF_ERROR(RemoveAll(pruner, report));
  used = tables::UsedBytes(database);
  if (!used.ok()) return used.status();
  report.bytes_after = *used;
  return report;
}

}  // namespace telemetry::storage::upkeep
