#include "server/storage/upkeep/inspect.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/sqlite/dataset_path.h"
#include "server/storage/sqlite/migrator.h"
#include "server/storage/sqlite/reseal.h"
#include "server/storage/sqlite/sqlite_database.h"

namespace telemetry::storage::upkeep {
namespace {

absl::Status RequireWritable(const std::string& path, int mode) {
  if (access(path.c_str(), mode) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
}

std::string ParentFolder(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

absl::StatusOr<int> ReadVersion(const std::string& path) {
  // Reads the database file only, since opening a write-ahead log would create files.
  ASSIGN_OR_RETURN(sqlite::SqliteDatabase database,
                   sqlite::SqliteDatabase::Open(path, {.read_only = true, .immutable = true}));
  // Another program may have written to the file. The collector verifies it before it serves the dataset.
  RETURN_IF_ERROR(sqlite::AdmitForeignPages(database));
  absl::StatusOr<int> version = sqlite::SchemaVersion(database);
  if (version.ok() && *version > sqlite::EmbeddedMigrations().back().number)
    return sqlite::RequireCurrentSchema(database);
  if (version.ok()) return version;
  return absl::Status(version.status().code(), absl::StrCat(path, ": ", version.status().message()));
}

}  // namespace

absl::StatusOr<DatasetState> InspectDataset(const std::string& path) {
  DatasetState state = {.newest_version = sqlite::EmbeddedMigrations().back().number};
  RETURN_IF_ERROR(sqlite::RefuseFolder(path));
  RETURN_IF_ERROR(RequireWritable(ParentFolder(path), W_OK | X_OK));
  std::error_code error;
  state.exists = std::filesystem::exists(path, error);
  if (!state.exists) return state;
  RETURN_IF_ERROR(RequireWritable(path, R_OK | W_OK));
  ASSIGN_OR_RETURN(const int version, ReadVersion(path));
  state.schema_version = version;
  return state;
}

}  // namespace telemetry::storage::upkeep
