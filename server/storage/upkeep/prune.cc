#include "server/storage/upkeep/prune.h"

#include <iterator>
#include <utility>

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
    absl::StatusOr<PruneStep> step = pruner.RemoveSome();
    if (!step.ok()) return step.status();
    std::move(step->attempts.begin(), step->attempts.end(), std::back_inserter(report.attempts));
    report.rejects += step->rejects;
    done = step->done;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PruneReport> PruneDataset(const std::string& path, const PruneOptions& options) {
  if (absl::Status status = RequireFile(path); !status.ok()) return status;
  std::optional<LockFile> lock;
  if (!options.dry_run) {
    absl::StatusOr<LockFile> taken = LockFile::Acquire(path);
    if (!taken.ok()) return taken.status();
    lock.emplace(*std::move(taken));
  }
  absl::StatusOr<SqliteDatabase> database =
      options.dry_run ? OpenDatasetForReading(path, {}) : OpenDatasetForWriting(path, {});
  if (!database.ok()) return database.status();
  const absl::StatusOr<PruneReach> reach = options.trusted_now
                                               ? ReachByClock(*database, options.rules, *options.trusted_now)
                                               : ReachOf(*database, options.rules);
  if (!reach.ok()) return reach.status();
  const absl::StatusOr<absl::Duration> served = ServedTime(*database).Total();
  if (!served.ok()) return served.status();
  absl::StatusOr<int64_t> used = UsedBytes(*database);
  if (!used.ok()) return used.status();
  PruneReport report = {.bytes_before = *used, .bytes_after = *used, .served = *served};
  Pruner pruner(*database, options.rules, *reach);
  if (options.dry_run) {
    absl::StatusOr<std::vector<PrunedAttempt>> planned = pruner.Plan();
    if (!planned.ok()) return planned.status();
    report.attempts = *std::move(planned);
    return report;
  }
  if (absl::Status status = RemoveAll(pruner, report); !status.ok()) return status;
  used = UsedBytes(*database);
  if (!used.ok()) return used.status();
  report.bytes_after = *used;
  return report;
}

}  // namespace telemetry::storage
