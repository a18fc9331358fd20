#include "server/storage/sqlite/migrator.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/sql/schema_version.h"
#include "server/storage/sql/statement.h"
#include "server/storage/sql/transaction.h"

namespace telemetry::storage::sqlite {
namespace {

absl::Status Apply(SqliteDatabase& database, const sql::Migration& migration) {
  ASSIGN_OR_RETURN(sql::Transaction transaction, sql::Transaction::BeginWrite(database));
  absl::Status status = database.Execute(migration.sql);
  // PRAGMA accepts no parameters. Both values are the program's own numbers.
  const std::string stamp =
      absl::StrCat("PRAGMA user_version = ", migration.number, "; PRAGMA application_id = ", kApplicationId);
  if (status.ok()) status = database.Execute(stamp.c_str());
  if (status.ok()) status = transaction.Commit();
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("migration ", migration.name, ": ", status.message()));
}

}  // namespace

absl::StatusOr<int> SchemaVersion(SqliteDatabase& database) {
  ASSIGN_OR_RETURN(int64_t application, database.QueryInt("PRAGMA application_id"));
  ASSIGN_OR_RETURN(int64_t objects, database.QueryInt("SELECT count(*) FROM sqlite_schema"));
  if (application != kApplicationId && (application != 0 || objects != 0)) {
    return absl::FailedPreconditionError(
        "the file is a SQLite database, but not one of telemetry-collector: give another --db");
  }
  ASSIGN_OR_RETURN(const bool unfinished, IsUnfinishedCopy(database));
  if (unfinished) return sql::UnfinishedCopy();
  ASSIGN_OR_RETURN(int64_t version, database.QueryInt("PRAGMA user_version"));
  return static_cast<int>(version);
}

absl::StatusOr<bool> IsUnfinishedCopy(SqliteDatabase& database) {
  ASSIGN_OR_RETURN(const std::optional<int64_t> table,
                   sql::Statement(database, "SELECT 1 FROM sqlite_schema WHERE name = ?1")
                       .Bind(sql::kUnfinishedCopyTable)
                       .QueryInt());
  return table.has_value();
}

absl::Status Migrate(SqliteDatabase& database, absl::Span<const sql::Migration> migrations) {
  ASSIGN_OR_RETURN(int version, SchemaVersion(database));
  const int newest = migrations.back().number;
  if (version > newest) return sql::NewerSchema(version, newest);
  for (const sql::Migration& migration : migrations) {
    if (migration.number <= version) continue;
    RETURN_IF_ERROR(Apply(database, migration));
  }
  return absl::OkStatus();
}

absl::Status RequireCurrentSchema(SqliteDatabase& database) {
  ASSIGN_OR_RETURN(int version, SchemaVersion(database));
  return sql::RequireSchemaVersion(version, EmbeddedMigrations().back().number);
}

}  // namespace telemetry::storage::sqlite
