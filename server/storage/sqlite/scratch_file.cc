#include "server/storage/sqlite/scratch_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/sqlite/sqlite_database.h"

namespace telemetry::storage::sqlite {
namespace {

// The journal is a WAL so that readers and the writer do not wait for each other. The page cache of a connection is at
// most 4 MiB.
constexpr char kPragmas[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -4096;";

std::string FolderFor(const std::string& folder) {
  std::error_code error;
  return folder.empty() ? std::filesystem::temp_directory_path(error).string() : folder;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ScratchFile>> ScratchFile::Create(const std::string& folder, const char* schema) {
  std::string path = FolderFor(folder) + "/telemetry-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    return absl::UnavailableError(absl::StrCat("cannot create a folder in ", FolderFor(folder), ": ", strerror(errno)));
  }
  std::unique_ptr<ScratchFile> file(new ScratchFile(path));
  ASSIGN_OR_RETURN(const std::unique_ptr<sql::Database> database, file->OpenWriter());
  RETURN_IF_ERROR(database->Execute(schema));
  return file;
}

ScratchFile::~ScratchFile() {
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
}

absl::StatusOr<std::unique_ptr<sql::Database>> ScratchFile::OpenWriter() const {
  ASSIGN_OR_RETURN(SqliteDatabase database, SqliteDatabase::Open(Path(), {.checksums = false}));
  RETURN_IF_ERROR(database.Execute(kPragmas));
  return std::make_unique<SqliteDatabase>(std::move(database));
}

absl::StatusOr<std::unique_ptr<sql::Database>> ScratchFile::OpenReader() const {
  ASSIGN_OR_RETURN(SqliteDatabase database, SqliteDatabase::Open(Path(), {.read_only = true, .checksums = false}));
  RETURN_IF_ERROR(database.Execute("PRAGMA cache_size = -4096;"));
  return std::make_unique<SqliteDatabase>(std::move(database));
}

}  // namespace telemetry::storage::sqlite
