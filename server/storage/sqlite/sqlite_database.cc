#include "server/storage/sqlite/sqlite_database.h"

#include <sqlite3.h>

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/sqlite/checksum_vfs.h"
#include "server/storage/sqlite/dataset_path.h"
#include "server/storage/sqlite/page_checksum.h"
#include "server/storage/sqlite/sqlite_statement.h"

namespace telemetry::storage::sqlite {
namespace {

absl::StatusCode SqliteToStatusCode(int sqlite_code) {
  if (sqlite_code == SQLITE_IOERR_DATA) return absl::StatusCode::kDataLoss;
  switch (sqlite_code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::StatusCode::kDataLoss;
    case SQLITE_FULL:
    case SQLITE_IOERR:
      return absl::StatusCode::kUnavailable;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::StatusCode::kAborted;
    case SQLITE_CANTOPEN:
      return absl::StatusCode::kNotFound;
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY:
      return absl::StatusCode::kPermissionDenied;
    default:
      return absl::StatusCode::kInternal;
  }
}

// Returns a path in SQLite's URI form.
std::string FileUri(const std::string& path, const char* query) {
  std::string uri = "file:";
  for (char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      absl::StrAppend(&uri, "%", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    } else {
      uri.push_back(c);
    }
  }
  return absl::StrCat(uri, query);
}

}  // namespace

absl::Status SqliteStatus(int code) {
  return absl::Status(SqliteToStatusCode(code), absl::StrCat("SQLite: ", sqlite3_errstr(code), " (", code, ")"));
}

absl::Status SqliteStatus(sqlite3* handle, int code) {
  const int extended = sqlite3_extended_errcode(handle);
  if (code == SQLITE_IOERR_DATA || ((code & 0xff) == SQLITE_IOERR && extended == SQLITE_IOERR_DATA)) {
    return absl::DataLossError(absl::StrCat(LastPageDamage(), ": run telemetry-collector check on it"));
  }
  return absl::Status(SqliteToStatusCode(code),
                      absl::StrCat("SQLite: ", sqlite3_errmsg(handle), " (",
                                   (extended & 0xff) == (code & 0xff) ? extended : code, ")"));
}

absl::StatusOr<SqliteDatabase> SqliteDatabase::Open(const std::string& path, const Options& options) {
  RETURN_IF_ERROR(options.read_only ? RequireFile(path) : RefuseFolder(path));
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI;
  flags |= options.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* handle = nullptr;
  const std::string uri = FileUri(path, options.immutable ? "?immutable=1" : "");
  const std::string vfs = options.checksums ? ChecksumVfsOver(options.vfs) : options.vfs;
  const int code = sqlite3_open_v2(uri.c_str(), &handle, flags, vfs.empty() ? nullptr : vfs.c_str());
  SqliteDatabase database(handle);
  if (code != SQLITE_OK) {
    absl::Status status = handle == nullptr ? SqliteStatus(code) : SqliteStatus(handle, code);
    return absl::Status(status.code(), absl::StrCat("cannot open ", path, ": ", status.message()));
  }
  sqlite3_busy_timeout(handle, static_cast<int>(absl::ToInt64Milliseconds(options.busy_timeout)));
  // Applies to a database that is created here, and to one that VACUUM rewrites.
  int trailer_bytes = options.checksums ? kPageTrailerBytes : 0;
  sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &trailer_bytes);
  if (options.read_only) {
    // Only the writer's connection may ever checkpoint (DESIGN.md, SQLite).
    sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    sqlite3_wal_autocheckpoint(handle, 0);
  }
  return database;
}

SqliteDatabase::SqliteDatabase(SqliteDatabase&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

SqliteDatabase& SqliteDatabase::operator=(SqliteDatabase&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

SqliteDatabase::~SqliteDatabase() { sqlite3_close_v2(handle_); }

// A write transaction locks the whole database, and no table has a key of its own, so `lock` and `key` are not
// rendered.
std::unique_ptr<sql::PreparedStatement> SqliteDatabase::Prepare(const sql::StatementText& statement) {
  const std::string sql = absl::StrCat(statement.text, statement.where == nullptr ? "" : " WHERE ", statement.where);
  return std::make_unique<SqliteStatement>(handle_, sql.c_str());
}

std::unique_ptr<sql::PreparedStatement> SqliteDatabase::Prepare(const sql::BulkInsert& insert) {
  return std::make_unique<SqliteStatement>(handle_, sql::SingleInsert(insert, /*run=*/false).c_str());
}

absl::Status SqliteDatabase::Execute(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : SqliteStatus(handle_, code);
}

int64_t SqliteDatabase::changed_rows() const { return sqlite3_total_changes64(handle_); }

absl::Status SqliteDatabase::Begin(Access access) {
  return Execute(access == Access::kWrite ? "BEGIN IMMEDIATE" : "BEGIN");
}

absl::Status SqliteDatabase::Commit() { return Execute("COMMIT"); }

absl::Status SqliteDatabase::RollBack() { return Execute("ROLLBACK"); }

}  // namespace telemetry::storage::sqlite
