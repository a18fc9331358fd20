#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sqlite/page_scan.h"
#include "server/storage/sqlite/reseal_report.h"
#include "server/storage/sqlite/sqlite_database.h"

namespace telemetry::storage::sqlite {

// Other programs may write to a dataset's file while no collector serves it, and may recover its log after a collector
// was killed. They leave pages whose checksums do not match. The functions below tell such pages from damaged ones:
//
// - The page was in the log: its seal was recorded (LogSeals), so it is the collector's page, bit for bit.
// - Another program wrote to the file: each SQLite write transaction changes the first page (HideSize). If the first
//   page was changed, pages without a matching seal are read after CheckContent() over the entire file, unless they are
//   one bit from their seal.
// - No other program wrote to the file: the page is damaged.

// Lets a connection read the pages of other programs, unverified, if one has written to the file. Must be called before
// the connection reads anything. Errors are I/O errors.
absl::Status AdmitForeignPages(SqliteDatabase& database);

// Verifies the file if AdmitForeignPages() allowed pages of other programs. For a connection for reading. Returns
// DATA_LOSS if the file is damaged.
absl::Status VerifyForeignPages(SqliteDatabase& database);

// Verifies the file like VerifyForeignPages(), and seals each page that is not sealed. From then on the connection
// reads only sealed pages. For a connection for writing; the caller holds the file's lock. Crash-safe: pages are sealed
// in place without a change of their content, and the first page is sealed last, in a transaction. Returns DATA_LOSS if
// the file is damaged; it was not changed then.
absl::StatusOr<ResealReport> ResealPages(SqliteDatabase& database);

// Seal all pages, including those that count as damaged, if CheckContent() finds nothing: for a file whose owner
// vouches for it (`telemetry-collector check --reseal`). AdmitAllPages() lets the connection read the pages; it must be
// called before the connection reads anything. ResealAllPages() stores their states in `scan`, and otherwise behaves
// like ResealPages().
absl::Status AdmitAllPages(SqliteDatabase& database);
absl::StatusOr<ResealReport> ResealAllPages(SqliteDatabase& database, PageScan* scan);

}  // namespace telemetry::storage::sqlite
