#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sqlite/page_scan.h"
#include "server/storage/sqlite/reseal_report.h"
#include "server/storage/sqlite/sqlite_database.h"

namespace telemetry::storage {

// Other programs may write to a dataset's file while no collector serves it, and recover its log after a collector was
// killed. They leave pages whose checksums do not match. This is how such pages are told from damaged ones:
//
//   the page was in the log     its seal was recorded (LogSeals): it is the collector's page, bit for bit
//   another program wrote       each SQLite write transaction changes the first page (HideSize). Where it did, pages
//   to the file                 without a matching seal are read after CheckContent over the whole file, unless they
//                               are one bit from their seal
//   no other program wrote      the page is damaged

// Lets a connection read the pages of other programs where one has written to the file, unverified. To be called before
// it reads anything. Errors are the disk's.
absl::Status AdmitForeignPages(SqliteDatabase& database);

// For a connection for reading: verifies the file where AdmitForeignPages lets pages of other programs be read.
// DATA_LOSS: the file is damaged.
absl::Status VerifyForeignPages(SqliteDatabase& database);

// For a connection for writing: verifies the file like VerifyForeignPages, and seals each page that is not sealed. From
// then on the connection reads sealed pages alone. The caller holds the file's lock. Crash-safe: in place no page's
// content changes, and the first page comes last, in a transaction. DATA_LOSS: the file is damaged, and was not
// changed.
absl::StatusOr<ResealReport> ResealPages(SqliteDatabase& database);

// Seals all pages where the owner of the file says that it is sound (`telemetry-collector check --reseal`), also those
// that count as damaged, if CheckContent finds nothing. AdmitAllPages lets the connection read them, before it reads
// anything. `scan` says which pages they were. Else as ResealPages.
absl::Status AdmitAllPages(SqliteDatabase& database);
absl::StatusOr<ResealReport> ResealAllPages(SqliteDatabase& database, PageScan* scan);

}  // namespace telemetry::storage
