#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

struct sqlite3;

namespace telemetry::storage {

// One SQLite connection, over ChecksumVfsOver. Used by one thread at a time. Statements and transactions on it must be
// gone before it is.
class Database {
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
  static absl::StatusOr<Database> Open(const std::string& path, const Options& options);

  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;
  ~Database();

  // Runs SQL that gives no rows, several statements at once too.
  absl::Status Execute(const char* sql);
  // The first column of the first row. NOT_FOUND: no row.
  absl::StatusOr<int64_t> QueryInt(const char* sql);

  // Rows that the last INSERT, UPDATE or DELETE changed, and the key that the last INSERT gave.
  int64_t changes() const;
  int64_t last_insert_key() const;

  sqlite3* handle() const { return handle_; }

 private:
  explicit Database(sqlite3* handle) : handle_(handle) {}

  sqlite3* handle_ = nullptr;
};

// The status for a SQLite result code, with SQLite's own words. SQLITE_CORRUPT, a page whose checksum does not fit and
// the like: DATA_LOSS. Full disk and I/O errors: UNAVAILABLE. Another connection's lock: ABORTED. Anything else:
// INTERNAL.
absl::Status SqliteStatus(sqlite3* handle, int code);
absl::Status SqliteStatus(int code);

}  // namespace telemetry::storage
