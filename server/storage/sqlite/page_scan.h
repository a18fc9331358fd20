#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "server/storage/sqlite/sqlite_database.h"

struct sqlite3_file;

namespace telemetry::storage::sqlite {

// Returns SQLite's handle of the database file.
absl::StatusOr<sqlite3_file*> DatabaseFile(SqliteDatabase& database);

// Returns whether the pages of the database file have checksums. Errors are I/O errors.
absl::StatusOr<bool> HasPageChecksums(SqliteDatabase& database);

// Returns true if another program wrote the first page. Each write transaction of another program does so, and this
// remains until this program writes the page again. Errors are I/O errors.
absl::StatusOr<bool> IsRewritten(SqliteDatabase& database);

// The states of the pages of a database file, by page number.
struct PageScan {
  bool checked = false;  // pages have checksums
  int page_bytes = 0;
  uint32_t pages = 0;      // pages in the database
  bool rewritten = false;  // the connection reads foreign pages (MutableAdmission); otherwise they count as damaged
  std::vector<uint32_t> logged;     // pages that are not sealed but match a seal of the log
  std::vector<uint32_t> foreign;    // pages that another program wrote
  std::vector<uint32_t> damaged;    // pages that do not match their checksum, except those after the end of the file
  std::vector<std::string> damage;  // one description per damaged page
};

// The pages that ScanPages() reads.
enum class PagesToScan {
  kAll,     // including free pages; without the page of SQLite's locks, which has no content
  kLogged,  // only pages with recorded seals (LogSeals): no other page can be in PageScan::logged
};

// Scans the pages of the database file except those in `superseded`: pages in the write-ahead log will be overwritten,
// and may be half written. In a read transaction, the scan may run beside a writer. Errors are I/O errors.
absl::StatusOr<PageScan> ScanPages(SqliteDatabase& database, const absl::flat_hash_set<uint32_t>& superseded,
                                   PagesToScan which = PagesToScan::kAll);

}  // namespace telemetry::storage::sqlite
