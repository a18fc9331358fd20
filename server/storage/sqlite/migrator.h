#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/storage/sql/migrations.h"
#include "server/storage/sqlite/sqlite_database.h"

namespace telemetry::storage {

// Marks a file as one of ours ("TELE"); `file` and `sqlite3` show it.
inline constexpr int kApplicationId = 0x54454c45;

// Brings a database to the newest of `migrations`, each in a transaction of its own that also sets PRAGMA user_version
// to its number. An empty file becomes a database; one that is up to date is not written to.
// FAILED_PRECONDITION: the database is newer than this program, or none of ours; the message says what to do.
absl::Status Migrate(SqliteDatabase& database, absl::Span<const Migration> migrations = EmbeddedMigrations());

// The version of a database's schema; 0: an empty file. FAILED_PRECONDITION: no database of ours, or an unfinished
// copy.
absl::StatusOr<int> SchemaVersion(SqliteDatabase& database);

// Whether `telemetry-collector copy` has begun to fill this database and not ended (schema_version.h).
absl::StatusOr<bool> IsUnfinishedCopy(SqliteDatabase& database);

// OK when the schema is the one that this program reads. FAILED_PRECONDITION: older or newer; the message says what to
// do.
absl::Status RequireCurrentSchema(SqliteDatabase& database);

}  // namespace telemetry::storage
