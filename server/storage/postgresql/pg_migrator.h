#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/storage/postgresql/pg_database.h"
#include "server/storage/sql/migration.h"

namespace telemetry::storage::postgresql {

// Returns all of migrations/postgresql, embedded at build time, in the order of their numbers: 1, 2, 3, ...
absl::Span<const sql::Migration> EmbeddedPgMigrations();

// Brings a database to the newest of `migrations`, and chooses the dataset_id of a new dataset. An empty database
// becomes a dataset; a dataset that is up to date is not written to. Any number of collectors may call this at the same
// time: one migrates, the others wait. Older collectors may write meanwhile: their transactions wait for about 20 ms
// for each table that the migration waits for, and then until it ends. One of them may end with ABORTED by a deadlock.
// Blocks for up to ten minutes while other transactions hold a table. A newer schema that works with this
// program is left unchanged. Returns FAILED_PRECONDITION if the schema is newer and does not work with this program, or
// if the database contains other tables; the message names the remedy.
absl::Status MigratePg(PgDatabase& database, absl::Time now,
                       absl::Span<const sql::Migration> migrations = EmbeddedPgMigrations());

// Returns the version of a database's schema; 0: none yet. Returns FAILED_PRECONDITION if the database contains other
// tables, or is an unfinished copy.
absl::StatusOr<int> PgSchemaVersion(PgDatabase& database);

// Returns whether `telemetry-collector copy` has begun but not finished to fill this database (schema_version.h).
absl::StatusOr<bool> IsUnfinishedCopy(PgDatabase& database);

// Returns FAILED_PRECONDITION unless all migrations after `newest`, the newest one that this program knows, work with
// it (Migration::works_with). `version` is the schema's version.
absl::Status CheckNewerPgSchema(PgDatabase& database, int version, int newest);

// Returns FAILED_PRECONDITION if the schema is older than the one that this program reads, or newer and does not work
// with it; the message names the remedy.
absl::Status RequireUsablePgSchema(PgDatabase& database);

// Opens a database whose schema this program reads. Returns errors of OpenPostgresqlReader.
absl::StatusOr<std::unique_ptr<PgDatabase>> OpenDatasetForReading(const std::string& url);

}  // namespace telemetry::storage::postgresql
