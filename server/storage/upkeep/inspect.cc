#include "server/storage/upkeep/inspect.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "server/storage/sqlite/dataset_path.h"
#include "server/storage/sqlite/migrator.h"
#include "server/storage/sqlite/reseal.h"
#include "server/storage/sqlite/sqlite_database.h"

namespace telemetry::storage {
namespace {

absl::Status RequireWritable(const std::string& path, int mode) {
  if (access(path.c_str(), mode) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
}

std::string FolderOf(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

absl::StatusOr<int> ReadVersion(const std::string& path) {
  // Reads the database file only, since opening a write-ahead log would create files.
  absl::StatusOr<SqliteDatabase> database = SqliteDatabase::Open(path, {.read_only = true, .immutable = true});
  if (!database.ok()) return database.status();
  // Another program may have written to the file. The collector verifies it before it serves the dataset.
  if (absl::Status status = AdmitForeignPages(*database); !status.ok()) return status;
  absl::StatusOr<int> version = SchemaVersion(*database);
  if (version.ok() && *version > EmbeddedMigrations().back().number) return RequireCurrentSchema(*database);
  if (version.ok()) return version;
  return absl::Status(version.status().code(), absl::StrCat(path, ": ", version.status().message()));
}

}  // namespace

absl::StatusOr<DatasetState> InspectDataset(const std::string& path) {
  DatasetState state = {.newest_version = EmbeddedMigrations().back().number};
  if (absl::Status status = RefuseFolder(path); !status.ok()) return status;
  if (absl::Status status = RequireWritable(FolderOf(path), W_OK | X_OK); !status.ok()) return status;
  std::error_code error;
  state.exists = std::filesystem::exists(path, error);
  if (!state.exists) return state;
  if (absl::Status status = RequireWritable(path, R_OK | W_OK); !status.ok()) return status;
  const absl::StatusOr<int> version = ReadVersion(path);
  if (!version.ok()) return version.status();
  state.schema_version = *version;
  return state;
}

}  // namespace telemetry::storage
