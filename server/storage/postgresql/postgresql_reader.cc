#include <memory>
#include <string>
#include <utility>

#include "server/storage/postgresql/pg_database.h"
#include "server/storage/postgresql/pg_migrator.h"
#include "server/storage/postgresql/postgresql_store.h"
#include "server/storage/readers/sql_reader.h"

namespace telemetry::storage {

absl::StatusOr<std::unique_ptr<StoreReader>> OpenPostgresqlReader(const std::string& url) {
  absl::StatusOr<std::unique_ptr<PgDatabase>> database = PgDatabase::Open(url);
  if (!database.ok()) return database.status();
  if (absl::Status status = RequireCurrentPgSchema(**database); !status.ok()) return status;
  return std::make_unique<SqlReader>(*std::move(database));
}

}  // namespace telemetry::storage
