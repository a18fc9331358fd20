#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/storage/sql/database.h"
#include "server/storage/sqlite/sqlite_store.h"
#include "server/storage/store.h"
#include "server/storage/upkeep/inspect.h"

namespace telemetry::storage::any {

// Returns whether --db names a database on a PostgreSQL server (postgresql://..., postgres://...) and not a SQLite
// file.
bool IsPostgresqlUrl(std::string_view db);

// Returns --db in a form that may be logged: a URL without its passwords.
std::string WithoutPasswords(std::string_view db);

// Returns the state of the dataset that --db names, without creating or changing anything. Returns errors of
// InspectDataset or OpenPostgresqlReader.
absl::StatusOr<upkeep::DatasetState> Inspect(const std::string& db);

// Opens a writer of the dataset that --db names, as OpenSqliteWriter or OpenPostgresqlWriter does. Options for the
// other kind are ignored.
absl::StatusOr<std::unique_ptr<StoreWriter>> OpenWriter(const std::string& db,
                                                        const sqlite::WriterOptions& options = {});

// Opens the dataset's database for reading. Returns errors of OpenReader.
absl::StatusOr<std::unique_ptr<sql::Database>> OpenDatabaseForReading(const std::string& db);

// Opens a reader, as OpenSqliteReader or OpenPostgresqlReader does.
absl::StatusOr<std::unique_ptr<StoreReader>> OpenReader(const std::string& db,
                                                        const sqlite::ReaderOptions& options = {});

}  // namespace telemetry::storage::any
