#include "server/storage/upkeep/prune.h"

#include <iterator>
#include <utility>

#include "proto/base/status_macros.h"
#include "server/storage/sqlite/dataset_file.h"
#include "server/storage/sqlite/dataset_path.h"
#include "server/storage/sqlite/lock_file.h"
#include "server/storage/tables/pruner.h"
#include "server/storage/tables/served_time.h"

namespace telemetry::storage {
namespace {

absl::Status RemoveAll(Pruner& pruner, PruneReport& report) {
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
  RETURN_IF_ERROR(RequireFile(path));
  std::optional<LockFile> lock;
  if (!options.dry_run) {
    ASSIGN_OR_RETURN(LockFile taken, LockFile::Acquire(path));
    lock.emplace(std::move(taken));
  }
  ASSIGN_OR_RETURN(SqliteDatabase database,
                   options.dry_run ? OpenDatasetForReading(path, {}) : OpenDatasetForWriting(path, {}));
  ASSIGN_OR_RETURN(const PruneReach reach, options.trusted_now
                                               ? ReachByClock(database, options.rules, *options.trusted_now)
                                               : ReachOf(database, options.rules));
  ASSIGN_OR_RETURN(const absl::Duration served, ServedTime(database).Total());
  absl::StatusOr<int64_t> used = UsedBytes(database);
  if (!used.ok()) return used.status();
  PruneReport report = {.bytes_before = *used, .bytes_after = *used, .served = served};
  Pruner pruner(database, options.rules, reach);
  if (options.dry_run) {
    ASSIGN_OR_RETURN(std::vector<PrunedAttempt> planned, pruner.Plan());
    report.attempts = std::move(planned);
    return report;
  }
  RETURN_IF_ERROR(RemoveAll(pruner, report));
  used = UsedBytes(database);
  if (!used.ok()) return used.status();
  report.bytes_after = *used;
  return report;
}

}  // namespace telemetry::storage
