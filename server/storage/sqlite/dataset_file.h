#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/storage/sqlite/page_scan.h"
#include "server/storage/sqlite/reseal.h"
#include "server/storage/sqlite/sqlite_database.h"
#include "server/storage/sqlite/sqlite_store.h"

namespace telemetry::storage {

// Opens the dataset's file for the one writer: WAL, durable commits, schema brought up to date, dataset_id chosen. The
// caller holds the file's lock. Errors as OpenSqliteWriter.
absl::StatusOr<SqliteDatabase> OpenDatasetForWriting(const std::string& path, const WriterOptions& options);

// Seals all pages of the dataset's file on its owner's word (ResealAllPages), under the file's lock; `scan` says what
// was found. Errors as OpenSqliteWriter.
absl::StatusOr<ResealReport> ResealDataset(const std::string& path, PageScan* scan);

// Opens it to read, whether a collector serves it or not, and from a read-only folder too. Errors as OpenSqliteReader.
absl::StatusOr<SqliteDatabase> OpenDatasetForReading(const std::string& path, const ReaderOptions& options);

// Opens it, or makes it, for `telemetry-collector copy` to fill: durable commits and this program's schema, but no
// dataset_id is chosen. An unfinished copy is opened as it is. The caller holds the file's lock. Errors as
// OpenSqliteWriter.
absl::StatusOr<SqliteDatabase> OpenFileForCopying(const std::string& path);

// Gives the pages of an older dataset checksums by writing it anew in place, which takes as much disk again, twice;
// false: it had them. Crash-safe. Errors as OpenSqliteWriter.
absl::StatusOr<bool> AddPageChecksums(const std::string& path);

}  // namespace telemetry::storage
