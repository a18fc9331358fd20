#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/storage/sql/database.h"
#include "server/storage/sql/prepared_statement.h"

struct sqlite3;

namespace telemetry::storage::sqlite {

// A SQLite connection, over ChecksumVfsOver() unless its options say otherwise.
class SqliteDatabase : public sql::Database {
 public:
  struct Options {
    bool read_only = false;
    // Promises SQLite that nobody changes the file. The connection then needs neither locks nor a WAL, so a read-only
    // folder is sufficient.
    bool immutable = false;
    // SQLite's VFS below the checksums; empty: the default VFS.
    std::string vfs;
    // Adds and verifies checksums. Without them the file is one that is not a dataset.
    bool checksums = true;
    // The maximum time that a call waits for a lock of another connection.
    absl::Duration busy_timeout = absl::Seconds(5);
  };

  // Opens a connection. Returns NOT_FOUND if the file or its folder does not exist, and PERMISSION_DENIED or
  // UNAVAILABLE if the file cannot be opened.
  static absl::StatusOr<SqliteDatabase> Open(const std::string& path, const Options& options);

  SqliteDatabase(SqliteDatabase&& other) noexcept;
  SqliteDatabase& operator=(SqliteDatabase&& other) noexcept;
  ~SqliteDatabase() override;

  std::unique_ptr<sql::PreparedStatement> Prepare(const sql::StatementText& statement) override;
  std::unique_ptr<sql::PreparedStatement> Prepare(const sql::BulkInsert& insert) override;
  absl::Status Execute(const char* sql) override;
  int64_t changed_rows() const override;
  bool has_long_failures() const override { return true; }
  // kWrite acquires the write lock immediately, so that no later statement fails because of it.
  absl::Status Begin(Access access) override;
  absl::Status Commit() override;
  absl::Status RollBack() override;

  sqlite3* handle() const { return handle_; }

 private:
  explicit SqliteDatabase(sqlite3* handle) : handle_(handle) {}

  sqlite3* handle_ = nullptr;
};

// Returns the status for a SQLite result code, with SQLite's own message. DATA_LOSS for SQLITE_CORRUPT, a page whose
// checksum does not match, and similar codes; UNAVAILABLE for a full disk and I/O errors; ABORTED for a lock of another
// connection; INTERNAL for anything else.
absl::Status SqliteStatus(sqlite3* handle, int code);
absl::Status SqliteStatus(int code);

}  // namespace telemetry::storage::sqlite
