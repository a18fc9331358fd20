#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/storage/postgresql/pg_database.h"
#include "server/storage/sql/migrations.h"

namespace telemetry::storage {

// All of migrations/postgresql, embedded at build time, in the order of their numbers: 1, 2, 3, ...
absl::Span<const Migration> EmbeddedPgMigrations();

// Brings a database to the newest of `migrations`, and gives a new dataset its id. An empty one becomes a dataset; one
// that is up to date is not written to. Any number of collectors may do so at once: one does, the others wait.
// FAILED_PRECONDITION: the database is newer than this program, or holds other tables; the message says what to do.
absl::Status MigratePg(PgDatabase& database, absl::Time now,
                       absl::Span<const Migration> migrations = EmbeddedPgMigrations());

// The version of a database's schema; 0: there is none yet. FAILED_PRECONDITION: it holds other tables, or is an
// unfinished copy.
absl::StatusOr<int> PgSchemaVersion(PgDatabase& database);

// Whether `telemetry-collector copy` has begun to fill this database and not ended (schema_version.h).
absl::StatusOr<bool> IsUnfinishedCopy(PgDatabase& database);

// OK when the schema is the one that this program reads. FAILED_PRECONDITION: older or newer; the message says what to
// do.
absl::Status RequireCurrentPgSchema(PgDatabase& database);

}  // namespace telemetry::storage
