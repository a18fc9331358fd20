#include "server/storage/postgresql/pg_migrator.h"

#include <cstdint>
#include <optional>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/base/status_macros.h"
#include "server/storage/sql/schema_version.h"
#include "server/storage/sql/statement.h"
#include "server/storage/sql/transaction.h"

namespace telemetry::storage::postgresql {
namespace {

// PostgreSQL's advisory locks share one number space per database. This number was chosen at random.
constexpr char kLock[] = "SELECT pg_advisory_xact_lock(5503941702385144881)";

// Without a notice for each of them that exists.
constexpr char kMakeVersions[] =
    "SET LOCAL client_min_messages = warning;\n"
    "CREATE TABLE IF NOT EXISTS schema_versions (version integer PRIMARY KEY, name text NOT NULL, "
    "applied_unix_us bigint NOT NULL);\n"
    "ALTER TABLE schema_versions ADD COLUMN IF NOT EXISTS works_with integer";

// Locks all tables at once, before the migrations lock some of them in another order than the collectors that write. A
// transaction that waits for such a lock delays the transactions that arrive after it, so that it gives up soon.
constexpr char kLockTables[] = R"sql(
SET LOCAL lock_timeout = '20ms';
DO $$
DECLARE
  names text;
BEGIN
  SELECT string_agg(format('%I', relname), ', ' ORDER BY relname) INTO names FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition;
  IF names IS NOT NULL THEN
    EXECUTE 'LOCK TABLE ' || names || ' IN ACCESS EXCLUSIVE MODE';
  END IF;
END
$$)sql";
constexpr absl::Duration kLockPatience = absl::Minutes(10);
constexpr absl::Duration kMeanLockPause = absl::Milliseconds(200);

// Applies all missing migrations or none: PostgreSQL rolls back schema changes, too.
absl::Status ApplyMissing(PgDatabase& database, int version, absl::Time now,
                          absl::Span<const sql::Migration> migrations) {
  RETURN_IF_ERROR(database.Execute(kMakeVersions));
  sql::Statement note(
      database,
      "INSERT INTO schema_versions (version, name, applied_unix_us, works_with) VALUES (?1, ?2, ?3, nullif(?4, 0))");
  for (const sql::Migration& migration : migrations) {
    if (migration.number <= version) continue;
    absl::Status status = database.Execute(migration.sql);
    if (status.ok())
      status = note.Bind(migration.number, migration.name, absl::ToUnixMicros(now), migration.works_with).Run();
    if (status.ok()) continue;
    return absl::Status(status.code(), absl::StrCat("migration ", migration.name, ": ", status.message()));
  }
  return sql::Statement(database,
                        "INSERT INTO dataset (dataset_id, created_unix_us) "
                        "SELECT uuid_send(gen_random_uuid()), ?1 WHERE NOT EXISTS (SELECT 1 FROM dataset)")
      .Bind(absl::ToUnixMicros(now))
      .Run();
}

// Migrates in one transaction. Sets `is_locked` once the transaction has all locks that it needs.
absl::Status TryToMigrate(PgDatabase& database, absl::Time now, absl::Span<const sql::Migration> migrations,
                          bool* is_locked) {
  const int newest = migrations.back().number;
  ASSIGN_OR_RETURN(sql::Transaction transaction, sql::Transaction::BeginWrite(database));
  RETURN_IF_ERROR(database.Execute(kLock));
  // Another collector may have migrated the schema while this one waited.
  ASSIGN_OR_RETURN(const int version, PgSchemaVersion(database));
  if (version > newest) return CheckNewerPgSchema(database, version, newest);
  if (version == newest) return absl::OkStatus();
  RETURN_IF_ERROR(database.Execute(kLockTables));
  *is_locked = true;
  RETURN_IF_ERROR(ApplyMissing(database, version, now, migrations));
  return transaction.Commit();
}

}  // namespace

absl::StatusOr<int> PgSchemaVersion(PgDatabase& database) {
  // Uses a single query, since another collector may be creating the tables at the same time.
  constexpr int64_t kNone = 0;
  constexpr int64_t kOthers = 1;
  ASSIGN_OR_RETURN(
      const int64_t tables,
      database.QueryInt(
          "SELECT CASE WHEN bool_or(tablename = 'schema_versions') THEN 2 WHEN count(*) > 0 THEN 1 ELSE 0 END "
          "FROM pg_tables WHERE schemaname = current_schema()"));
  if (tables == kNone) return 0;
  if (tables == kOthers) {
    return absl::FailedPreconditionError(
        "the database contains tables that do not belong to telemetry-collector: give another --db");
  }
  ASSIGN_OR_RETURN(const bool unfinished, IsUnfinishedCopy(database));
  if (unfinished) return sql::UnfinishedCopy();
  ASSIGN_OR_RETURN(const int64_t version, database.QueryInt("SELECT coalesce(max(version), 0) FROM schema_versions"));
  return static_cast<int>(version);
}

absl::StatusOr<bool> IsUnfinishedCopy(PgDatabase& database) {
  ASSIGN_OR_RETURN(
      const std::optional<int64_t> table,
      sql::Statement(database, "SELECT 1::bigint FROM pg_tables WHERE schemaname = current_schema() AND tablename = ?1")
          .Bind(sql::kUnfinishedCopyTable)
          .QueryInt());
  return table.has_value();
}

absl::Status MigratePg(PgDatabase& database, absl::Time now, absl::Span<const sql::Migration> migrations) {
  const int newest = migrations.back().number;
  ASSIGN_OR_RETURN(const int before, PgSchemaVersion(database));
  if (before == newest) return absl::OkStatus();
  if (before > newest) return CheckNewerPgSchema(database, before, newest);
  absl::BitGen random;
  for (const absl::Time deadline = absl::Now() + kLockPatience;;) {
    bool is_locked = false;
    absl::Status status = TryToMigrate(database, now, migrations, &is_locked);
    if (status.ok() || is_locked || absl::Now() >= deadline) return status;
    if (!absl::IsAborted(status)) return status;
    absl::SleepFor(absl::Uniform(random, 0.5, 1.5) * kMeanLockPause);
  }
}

absl::Status CheckNewerPgSchema(PgDatabase& database, int version, int newest) {
  ASSIGN_OR_RETURN(
      const std::optional<int64_t> other,
      sql::Statement(database,
                     "SELECT v.version::bigint FROM schema_versions AS v "
                     "WHERE v.version > ?1 AND coalesce(v.works_with, v.version) > ?1 ORDER BY v.version LIMIT 1")
          .Bind(newest)
          .QueryInt());
  return other ? sql::NewerSchema(version, newest) : absl::OkStatus();
}

absl::Status RequireUsablePgSchema(PgDatabase& database) {
  const int newest = EmbeddedPgMigrations().back().number;
  ASSIGN_OR_RETURN(const int version, PgSchemaVersion(database));
  return version > newest ? CheckNewerPgSchema(database, version, newest) : sql::RequireSchemaVersion(version, newest);
}

absl::StatusOr<std::unique_ptr<PgDatabase>> OpenDatasetForReading(const std::string& url) {
  ASSIGN_OR_RETURN(std::unique_ptr<PgDatabase> database, PgDatabase::Open(url));
  RETURN_IF_ERROR(RequireUsablePgSchema(*database));
  return database;
}

}  // namespace telemetry::storage::postgresql
