#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/storage/sql/database.h"
#include "server/storage/sqlite/sqlite_store.h"
#include "server/storage/store.h"
#include "server/storage/upkeep/inspect.h"

namespace telemetry::storage {

// Whether --db names a database on a PostgreSQL server (postgresql://..., postgres://...) and not a SQLite file.
bool IsPostgresqlUrl(std::string_view db);

// --db as it may be logged: of a url without its passwords.
std::string WithoutPasswords(std::string_view db);

// What a collector would find there, without making or changing anything. Errors as InspectDataset, or as
// OpenPostgresqlReader.
absl::StatusOr<DatasetState> Inspect(const std::string& db);

// The dataset that --db names, as OpenSqliteWriter or OpenPostgresqlWriter opens it. Options of the other kind do not
// matter.
absl::StatusOr<std::unique_ptr<StoreWriter>> OpenWriter(const std::string& db, const WriterOptions& options = {});

// Its database, to be read. Errors as OpenReader.
absl::StatusOr<std::unique_ptr<Database>> OpenDatabaseForReading(const std::string& db);

// As OpenSqliteReader or OpenPostgresqlReader.
absl::StatusOr<std::unique_ptr<StoreReader>> OpenReader(const std::string& db, const ReaderOptions& options = {});

}  // namespace telemetry::storage
