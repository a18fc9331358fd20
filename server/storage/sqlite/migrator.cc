#include "server/storage/sqlite/migrator.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "server/storage/sql/schema_version.h"
#include "server/storage/sql/statement.h"
#include "server/storage/sql/transaction.h"

namespace telemetry::storage {
namespace {

absl::Status Apply(SqliteDatabase& database, const Migration& migration) {
  absl::StatusOr<Transaction> transaction = Transaction::BeginWrite(database);
  if (!transaction.ok()) return transaction.status();
  absl::Status status = database.Execute(migration.sql);
  // PRAGMA accepts no parameters. Both values are the program's own numbers.
  const std::string stamp =
      absl::StrCat("PRAGMA user_version = ", migration.number, "; PRAGMA application_id = ", kApplicationId);
  if (status.ok()) status = database.Execute(stamp.c_str());
  if (status.ok()) status = transaction->Commit();
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("migration ", migration.name, ": ", status.message()));
}

}  // namespace

absl::StatusOr<int> SchemaVersion(SqliteDatabase& database) {
  absl::StatusOr<int64_t> application = database.QueryInt("PRAGMA application_id");
  if (!application.ok()) return application.status();
  absl::StatusOr<int64_t> objects = database.QueryInt("SELECT count(*) FROM sqlite_schema");
  if (!objects.ok()) return objects.status();
  if (*application != kApplicationId && (*application != 0 || *objects != 0)) {
    return absl::FailedPreconditionError(
        "the file is a SQLite database, but not one of telemetry-collector: give another --db");
  }
  const absl::StatusOr<bool> unfinished = IsUnfinishedCopy(database);
  if (!unfinished.ok()) return unfinished.status();
  if (*unfinished) return UnfinishedCopy();
  absl::StatusOr<int64_t> version = database.QueryInt("PRAGMA user_version");
  if (!version.ok()) return version.status();
  return static_cast<int>(*version);
}

absl::StatusOr<bool> IsUnfinishedCopy(SqliteDatabase& database) {
  const absl::StatusOr<std::optional<int64_t>> table =
      Statement(database, "SELECT 1 FROM sqlite_schema WHERE name = ?1").Bind(kUnfinishedCopyTable).QueryInt();
  if (!table.ok()) return table.status();
  return table->has_value();
}

absl::Status Migrate(SqliteDatabase& database, absl::Span<const Migration> migrations) {
  absl::StatusOr<int> version = SchemaVersion(database);
  if (!version.ok()) return version.status();
  const int newest = migrations.back().number;
  if (*version > newest) return NewerSchema(*version, newest);
  for (const Migration& migration : migrations) {
    if (migration.number <= *version) continue;
    if (absl::Status status = Apply(database, migration); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status RequireCurrentSchema(SqliteDatabase& database) {
  absl::StatusOr<int> version = SchemaVersion(database);
  if (!version.ok()) return version.status();
  return RequireSchemaVersion(*version, EmbeddedMigrations().back().number);
}

}  // namespace telemetry::storage
