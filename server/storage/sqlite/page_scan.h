#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "server/storage/sqlite/sqlite_database.h"

struct sqlite3_file;

namespace telemetry::storage {

// Returns SQLite's handle of the database file.
absl::StatusOr<sqlite3_file*> FileOf(SqliteDatabase& database);

// Whether the pages of the database file have checksums. Errors are the disk's.
absl::StatusOr<bool> HasPageChecksums(SqliteDatabase& database);

// Returns true if the first page is another program's, as it is after each of that program's write transactions until
// this program has written the page again. Errors are the disk's.
absl::StatusOr<bool> IsRewritten(SqliteDatabase& database);

struct PageScan {
  bool checked = false;  // pages have checksums
  int page_bytes = 0;
  uint32_t pages = 0;               // of the database
  bool rewritten = false;           // the connection reads foreign pages (AdmissionOf); else they count as damaged
  std::vector<uint32_t> logged;     // pages that are not sealed, but as the log had them
  std::vector<uint32_t> foreign;    // pages that another program wrote
  std::vector<uint32_t> damaged;    // pages that do not match their checksum, those behind the file's end excepted
  std::vector<std::string> damage;  // one per damaged page
};

enum class PagesToScan {
  kAll,     // free ones, too
  kLogged,  // those of which seals were recorded (LogSeals): only they can be in PageScan::logged
};

// Reads pages of the database file but those that `superseded` names: what the write-ahead log holds will be written
// over, and may be half written already. In a read transaction it may run beside a writer. Errors are the disk's.
absl::StatusOr<PageScan> ScanPages(SqliteDatabase& database, const absl::flat_hash_set<uint32_t>& superseded,
                                   PagesToScan which = PagesToScan::kAll);

}  // namespace telemetry::storage
