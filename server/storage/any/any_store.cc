#include "server/storage/any/any_store.h"

#include <algorithm>
#include <utility>

#include "proto/base/status_macros.h"
#include "server/storage/postgresql/pg_database.h"
#include "server/storage/postgresql/pg_migrator.h"
#include "server/storage/postgresql/postgresql_store.h"
#include "server/storage/sqlite/dataset_file.h"

namespace telemetry::storage::any {
namespace {

constexpr std::string_view kHidden = "***";

// Hides the password in user:password@host.
void HideInAuthority(size_t begin, std::string* url) {
  const size_t end = std::min(url->find_first_of("/?", begin), url->size());
  const size_t at = url->rfind('@', end);
  if (at == std::string::npos || at < begin) return;
  const size_t colon = url->find(':', begin);
  if (colon < at) url->replace(colon + 1, at - colon - 1, kHidden);
}

// Hides the passwords in ?password=..., &sslpassword=...
void HideInParameters(std::string* url) {
  constexpr std::string_view kKey = "password=";
  for (size_t at = url->find(kKey); at != std::string::npos; at = url->find(kKey, at)) {
    at += kKey.size();
    url->replace(at, std::min(url->find('&', at), url->size()) - at, kHidden);
  }
}

}  // namespace

bool IsPostgresqlUrl(std::string_view db) { return db.starts_with("postgresql://") || db.starts_with("postgres://"); }

std::string WithoutPasswords(std::string_view db) {
  std::string shown(db);
  if (!IsPostgresqlUrl(db)) return shown;
  HideInAuthority(shown.find("://") + 3, &shown);
  HideInParameters(&shown);
  return shown;
}

absl::StatusOr<upkeep::DatasetState> Inspect(const std::string& db) {
  if (!IsPostgresqlUrl(db)) return upkeep::InspectDataset(db);
  ASSIGN_OR_RETURN(const std::unique_ptr<postgresql::PgDatabase> database, postgresql::PgDatabase::Open(db));
  ASSIGN_OR_RETURN(const int version, postgresql::PgSchemaVersion(*database));
  const int newest = postgresql::EmbeddedPgMigrations().back().number;
  if (version > newest) RETURN_IF_ERROR(postgresql::CheckNewerPgSchema(*database, version, newest));
  return upkeep::DatasetState{
      .exists = version > 0, .schema_version = version, .newest_version = std::max(version, newest)};
}

absl::StatusOr<std::unique_ptr<StoreWriter>> OpenWriter(const std::string& db, const sqlite::WriterOptions& options) {
  if (IsPostgresqlUrl(db)) return postgresql::OpenPostgresqlWriter(db, {.clock = options.clock});
  return sqlite::OpenSqliteWriter(db, options);
}

absl::StatusOr<std::unique_ptr<sql::Database>> OpenDatabaseForReading(const std::string& db) {
  if (IsPostgresqlUrl(db)) return postgresql::OpenDatasetForReading(db);
  ASSIGN_OR_RETURN(sqlite::SqliteDatabase database, sqlite::OpenDatasetForReading(db, {}));
  return std::make_unique<sqlite::SqliteDatabase>(std::move(database));
}

absl::StatusOr<std::unique_ptr<StoreReader>> OpenReader(const std::string& db, const sqlite::ReaderOptions& options) {
  return IsPostgresqlUrl(db) ? postgresql::OpenPostgresqlReader(db) : sqlite::OpenSqliteReader(db, options);
}

}  // namespace telemetry::storage::any
