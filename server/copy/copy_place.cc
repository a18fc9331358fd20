#include "server/copy/copy_place.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/base/status_macros.h"
#include "server/storage/any/any_store.h"
#include "server/storage/postgresql/pg_database.h"
#include "server/storage/postgresql/pg_migrator.h"
#include "server/storage/readers/sql_reader.h"
#include "server/storage/sql/schema_version.h"
#include "server/storage/sql/statement.h"
#include "server/storage/sqlite/dataset_file.h"
#include "server/storage/sqlite/lock_file.h"
#include "server/storage/sqlite/migrator.h"
#include "server/storage/sqlite/reseal.h"
#include "server/storage/sqlite/sqlite_database.h"

namespace telemetry::copy {
namespace {

using storage::postgresql::PgDatabase;
using storage::sql::Database;
using storage::sql::Statement;
using storage::sqlite::LockFile;
using storage::sqlite::SqliteDatabase;

absl::StatusOr<int64_t> NextKey(Database& database, const DatasetTable& table) {
  return database.QueryInt(absl::StrCat("SELECT coalesce(max(", table.key, "), 0) + 1 FROM ", table.name).c_str());
}

class SqlitePlace : public CopyPlace {
 public:
  SqlitePlace(std::string path, std::optional<LockFile> lock, SqliteDatabase database)
      : path_(std::move(path)), lock_(std::move(lock)), database_(std::move(database)) {}

  Database& database() override { return database_; }
  absl::StatusOr<bool> IsUnfinished() override { return IsUnfinishedCopy(database_); }

  absl::StatusOr<std::unique_ptr<storage::StoreReader>> OpenReader() override {
    ASSIGN_OR_RETURN(SqliteDatabase database, SqliteDatabase::Open(path_, {.read_only = true, .vfs = {}}));
    // The pages were verified when the place was opened.
    RETURN_IF_ERROR(storage::sqlite::AdmitForeignPages(database));
    return std::make_unique<storage::readers::SqlReader>(std::make_unique<SqliteDatabase>(std::move(database)));
  }

  absl::StatusOr<int64_t> NextAttempt() override {
    return database_.QueryInt("SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'attempts'");
  }

  absl::Status SetNextKeys(const std::vector<DatasetTable>& /*tables*/, int64_t next_attempt) override {
    // The other tables continue after their largest key.
    RETURN_IF_ERROR(database_.Execute("DELETE FROM sqlite_sequence WHERE name = 'attempts'"));
    return Statement(database_, "INSERT INTO sqlite_sequence (name, seq) VALUES ('attempts', ?1)")
        .Bind(next_attempt - 1)
        .Run();
  }

  absl::Status Settle() override { return database_.Execute("PRAGMA wal_checkpoint(TRUNCATE)"); }

 private:
  const std::string path_;
  const std::optional<LockFile> lock_;
  SqliteDatabase database_;
};

class PostgresqlPlace : public CopyPlace {
 public:
  PostgresqlPlace(std::string url, std::unique_ptr<PgDatabase> database)
      : url_(std::move(url)), database_(std::move(database)) {}

  Database& database() override { return *database_; }
  absl::StatusOr<bool> IsUnfinished() override { return IsUnfinishedCopy(*database_); }

  absl::StatusOr<std::unique_ptr<storage::StoreReader>> OpenReader() override {
    ASSIGN_OR_RETURN(std::unique_ptr<PgDatabase> database, PgDatabase::Open(url_));
    return std::make_unique<storage::readers::SqlReader>(std::move(database));
  }

  absl::StatusOr<int64_t> NextAttempt() override {
    return database_->QueryInt(
        "SELECT CASE WHEN is_called THEN last_value + 1 ELSE last_value END FROM attempts_attempt_seq");
  }

  absl::Status SetNextKeys(const std::vector<DatasetTable>& tables, int64_t next_attempt) override {
    for (const DatasetTable& table : tables) {
      if (table.key_sequence.empty()) continue;
      absl::StatusOr<int64_t> next = NextKey(*database_, table);
      if (!next.ok()) return next.status();
      if (table.name == "attempts") next = std::max(*next, next_attempt);
      const std::string set = absl::StrCat("SELECT setval('", table.key_sequence, "', ", *next, ", false)");
      RETURN_IF_ERROR(database_->Execute(set.c_str()));
    }
    return absl::OkStatus();
  }

  // Updates the statistics with which the server plans queries.
  absl::Status Settle() override { return database_->Execute("ANALYZE"); }

 private:
  const std::string url_;
  const std::unique_ptr<PgDatabase> database_;
};

absl::StatusOr<std::unique_ptr<CopyPlace>> OpenSqliteSource(const std::string& path) {
  ASSIGN_OR_RETURN(SqliteDatabase database, storage::sqlite::OpenDatasetForReading(path, {.vfs = {}}));
  absl::StatusOr<LockFile> lock = LockFile::Acquire(path);
  // A read-only folder cannot have a collector, either.
  if (!lock.ok() && !absl::IsPermissionDenied(lock.status())) return lock.status();
  std::optional<LockFile> held;
  if (lock.ok()) held = *std::move(lock);
  return std::make_unique<SqlitePlace>(path, std::move(held), std::move(database));
}

absl::StatusOr<std::unique_ptr<CopyPlace>> OpenPostgresqlSource(const std::string& url) {
  ASSIGN_OR_RETURN(std::unique_ptr<PgDatabase> database, PgDatabase::Open(url));
  // A newer schema may have columns that this program would not copy, also if it works with this program.
  ASSIGN_OR_RETURN(const int version, storage::postgresql::PgSchemaVersion(*database));
  absl::Status status =
      storage::sql::RequireSchemaVersion(version, storage::postgresql::EmbeddedPgMigrations().back().number);
  // One transaction reads the whole source, and it is idle while the target writes.
  if (status.ok()) status = database->Execute("SET idle_in_transaction_session_timeout = 0");
  if (!status.ok()) return status;
  return std::make_unique<PostgresqlPlace>(url, std::move(database));
}

absl::StatusOr<std::unique_ptr<CopyPlace>> OpenSqliteTarget(const std::string& path) {
  ASSIGN_OR_RETURN(LockFile lock, LockFile::Acquire(path));
  ASSIGN_OR_RETURN(SqliteDatabase database, storage::sqlite::OpenFileForCopying(path));
  return std::make_unique<SqlitePlace>(path, std::move(lock), std::move(database));
}

absl::StatusOr<std::unique_ptr<CopyPlace>> OpenPostgresqlTarget(const std::string& url) {
  ASSIGN_OR_RETURN(std::unique_ptr<PgDatabase> database, PgDatabase::Open(url, Database::Access::kWrite));
  database->set_uses_copy(true);
  const absl::StatusOr<bool> unfinished = IsUnfinishedCopy(*database);
  absl::Status status = unfinished.status();
  if (status.ok() && !*unfinished) status = storage::postgresql::MigratePg(*database, absl::Now());
  // The transaction of the target is idle while the source's tables are read.
  if (status.ok()) status = database->Execute("SET idle_in_transaction_session_timeout = 0");
  if (!status.ok()) return status;
  return std::make_unique<PostgresqlPlace>(url, std::move(database));
}

}  // namespace

absl::StatusOr<std::unique_ptr<CopyPlace>> OpenCopySource(const std::string& db) {
  return storage::any::IsPostgresqlUrl(db) ? OpenPostgresqlSource(db) : OpenSqliteSource(db);
}

absl::StatusOr<std::unique_ptr<CopyPlace>> OpenCopyTarget(const std::string& db) {
  return storage::any::IsPostgresqlUrl(db) ? OpenPostgresqlTarget(db) : OpenSqliteTarget(db);
}

}  // namespace telemetry::copy
