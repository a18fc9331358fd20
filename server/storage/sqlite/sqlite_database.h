#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/storage/sql/database.h"
#include "server/storage/sql/prepared_statement.h"

struct sqlite3;

namespace telemetry::storage {

// One SQLite connection, over ChecksumVfsOver.
class SqliteDatabase : public Database {
 public:
  struct Options {
    bool read_only = false;
    // Promises SQLite that nobody changes the file: needs neither locks nor a WAL, so a read-only folder will do.
    bool immutable = false;
    // SQLite's VFS below the checksums; empty: the default one.
    std::string vfs;
    // How long a call waits for a lock of another connection.
    absl::Duration busy_timeout = absl::Seconds(5);
  };

  // NOT_FOUND: no such file or folder. PERMISSION_DENIED, UNAVAILABLE: it cannot be opened.
  static absl::StatusOr<SqliteDatabase> Open(const std::string& path, const Options& options);

  SqliteDatabase(SqliteDatabase&& other) noexcept;
  SqliteDatabase& operator=(SqliteDatabase&& other) noexcept;
  ~SqliteDatabase() override;

  std::unique_ptr<PreparedStatement> Prepare(const char* sql) override;
  absl::Status Execute(const char* sql) override;
  int64_t changed_rows() const override;
  // kWrite takes the write lock at once, so that no later statement can find it taken.
  absl::Status Begin(Access access) override;
  absl::Status Commit() override;
  absl::Status RollBack() override;

  sqlite3* handle() const { return handle_; }

 private:
  explicit SqliteDatabase(sqlite3* handle) : handle_(handle) {}

  sqlite3* handle_ = nullptr;
};

// The status for a SQLite result code, with SQLite's own words. SQLITE_CORRUPT, a page whose checksum does not fit and
// the like: DATA_LOSS. Full disk and I/O errors: UNAVAILABLE. Another connection's lock: ABORTED. Anything else:
// INTERNAL.
absl::Status SqliteStatus(sqlite3* handle, int code);
absl::Status SqliteStatus(int code);

}  // namespace telemetry::storage
