#include "server/storage/upkeep/prune.h"

#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/postgresql/pg_database.h"
#include "server/storage/postgresql/pg_dataset_space.h"
#include "server/storage/postgresql/pg_migrator.h"
#include "server/storage/postgresql/pg_retention.h"
#include "server/storage/sql/transaction.h"
#include "server/storage/sqlite/dataset_file.h"
#include "server/storage/sqlite/dataset_path.h"
#include "server/storage/sqlite/lock_file.h"
#include "server/storage/sqlite/sqlite_space.h"
#include "server/storage/tables/pruner.h"
#include "server/storage/tables/served_time.h"

namespace telemetry::storage::upkeep {
namespace {

// The tables on a PostgreSQL server from which rows are removed.
constexpr char kPrunedTables[] =
    "measurements, measurement_details, source_hashes, attempt_events, attempts, rejects, run_configs, run_settings, "
    "ir_graphs, ir_nodes, ir_edges, runs, kernels";

absl::StatusOr<tables::PruneReach> Reach(sql::Database& database, const PruneOptions& options) {
  return options.trusted_now ? tables::ReachByClock(database, options.rules, *options.trusted_now)
                             : tables::ComputeReach(database, options.rules);
}

// Returns the report of a dataset from which nothing has been removed yet.
absl::StatusOr<PruneReport> NewReport(sql::Database& database, tables::DatasetSpace& space) {
  ASSIGN_OR_RETURN(const absl::Duration served, tables::ServedTime(database).Total());
  ASSIGN_OR_RETURN(const int64_t used, space.UsedBytes());
  return PruneReport{.bytes_before = used, .bytes_after = used, .served = served};
}

absl::StatusOr<PruneReport> Plan(sql::Database& database, tables::DatasetSpace& space, const PruneOptions& options) {
  ASSIGN_OR_RETURN(PruneReport report, NewReport(database, space));
  ASSIGN_OR_RETURN(const tables::PruneReach reach, Reach(database, options));
  tables::AttemptRemover remover(database);
  ASSIGN_OR_RETURN(report.attempts, tables::Pruner(database, space, remover, options.rules, reach).Plan());
  return report;
}

// Takes a step in a transaction of its own. A step that was in the way of another transaction is repeated by the next
// call.
absl::StatusOr<PruneStep> PgStep(postgresql::PgDatabase& database, postgresql::PgRetention& retention,
                                 const PruneOptions& options) {
  ASSIGN_OR_RETURN(sql::Transaction transaction, sql::Transaction::BeginWrite(database));
  absl::StatusOr<std::optional<PruneStep>> step = retention.Step(options.rules, options.trusted_now);
  if (step.ok() && !step->has_value()) {
    return absl::AlreadyExistsError("a collector, or another prune, is removing old data: try again later");
  }
  absl::Status status = step.ok() ? transaction.Commit() : step.status();
  if (status.ok()) return **std::move(step);
  if (!absl::IsAborted(status)) return status;
  retention.Forget();
  return PruneStep();
}

// Calls `take_step` until a pass is complete.
absl::Status RemoveAll(absl::FunctionRef<absl::StatusOr<PruneStep>()> take_step, PruneReport& report) {
  bool done = false;
  while (!done) {
    ASSIGN_OR_RETURN(PruneStep step, take_step());
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
  sqlite::SqliteSpace space(database);
  if (options.dry_run) return Plan(database, space, options);
  ASSIGN_OR_RETURN(PruneReport report, NewReport(database, space));
  ASSIGN_OR_RETURN(const tables::PruneReach reach, Reach(database, options));
  tables::AttemptRemover remover(database);
  tables::Pruner pruner(database, space, remover, options.rules, reach);
  RETURN_IF_ERROR(RemoveAll([&pruner] { return pruner.RemoveSome(); }, report));
  ASSIGN_OR_RETURN(report.bytes_after, space.UsedBytes());
  return report;
}

absl::StatusOr<PruneReport> PrunePgDataset(const std::string& url, const PruneOptions& options) {
  using postgresql::PgDatabase;
  if (options.dry_run) {
    ASSIGN_OR_RETURN(const std::unique_ptr<PgDatabase> database, postgresql::OpenDatasetForReading(url));
    ASSIGN_OR_RETURN(const sql::Transaction transaction, sql::Transaction::BeginRead(*database));
    postgresql::PgDatasetSpace space(*database);
    return Plan(*database, space, options);
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<PgDatabase> database, PgDatabase::Open(url, PgDatabase::Access::kWrite));
  RETURN_IF_ERROR(postgresql::RequireUsablePgSchema(*database));
  // The server may have lost its statistics in a crash.
  RETURN_IF_ERROR(database->Execute(absl::StrCat("ANALYZE ", kPrunedTables).c_str()));
  postgresql::PgDatasetSpace before(*database);
  ASSIGN_OR_RETURN(PruneReport report, NewReport(*database, before));
  // The report contains the rows of each attempt.
  tables::PruneStepLimits limits = postgresql::PgRetention::kLimits;
  limits.rows_counted = INT64_MAX;
  postgresql::PgRetention retention(*database, limits);
  RETURN_IF_ERROR(RemoveAll([&] { return PgStep(*database, retention, options); }, report));
  if (report.attempts.empty() && report.rejects == 0) return report;
  RETURN_IF_ERROR(database->Execute(absl::StrCat("VACUUM (ANALYZE) ", kPrunedTables).c_str()));
  postgresql::PgDatasetSpace after(*database);
  ASSIGN_OR_RETURN(report.bytes_after, after.UsedBytes());
  return report;
}

}  // namespace telemetry::storage::upkeep
