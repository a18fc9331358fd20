#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/storage/sql/migration.h"
#include "server/storage/sqlite/sqlite_database.h"

namespace telemetry::storage::sqlite {

// SQLite's application_id of our files ("TELE"); the programs `file` and `sqlite3` show it.
inline constexpr int kApplicationId = 0x54454c45;

// Returns all of migrations/sqlite, embedded at build time, in the order of their numbers: 1, 2, 3, ...
absl::Span<const sql::Migration> EmbeddedMigrations();

// Brings a database to the newest of `migrations`. Each migration runs in its own transaction, which also sets PRAGMA
// user_version to its number. An empty file becomes a dataset; a dataset that is up to date is not written to. Returns
// FAILED_PRECONDITION if the database is newer than this program or is not a dataset; the message names the remedy.
absl::Status Migrate(SqliteDatabase& database, absl::Span<const sql::Migration> migrations = EmbeddedMigrations());

// Returns the version of a database's schema; 0: an empty file. Returns FAILED_PRECONDITION if the database is not a
// dataset, or is an unfinished copy.
absl::StatusOr<int> SchemaVersion(SqliteDatabase& database);

// Returns whether `telemetry-collector copy` has begun but not finished to fill this database (schema_version.h).
absl::StatusOr<bool> IsUnfinishedCopy(SqliteDatabase& database);

// Returns FAILED_PRECONDITION if the schema is older or newer than the one that this program reads; the message names
// the remedy.
absl::Status RequireCurrentSchema(SqliteDatabase& database);

}  // namespace telemetry::storage::sqlite
