#include <memory>
#include <string>
#include <utility>

#include "proto/base/status_macros.h"
#include "server/storage/postgresql/pg_database.h"
#include "server/storage/postgresql/pg_migrator.h"
#include "server/storage/postgresql/postgresql_store.h"
#include "server/storage/readers/sql_reader.h"

namespace telemetry::storage::postgresql {

absl::StatusOr<std::unique_ptr<StoreReader>> OpenPostgresqlReader(const std::string& url) {
  ASSIGN_OR_RETURN(std::unique_ptr<PgDatabase> database, OpenDatasetForReading(url));
  return std::make_unique<readers::SqlReader>(std::move(database));
}

}  // namespace telemetry::storage::postgresql
