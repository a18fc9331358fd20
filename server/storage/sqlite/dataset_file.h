#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/storage/sqlite/page_scan.h"
#include "server/storage/sqlite/reseal.h"
#include "server/storage/sqlite/sqlite_database.h"
#include "server/storage/sqlite/sqlite_store.h"

namespace telemetry::storage::sqlite {

// Opens the dataset's file for its only writer: sets WAL mode and durable commits, migrates the schema, and chooses a
// dataset_id for a new dataset. The caller holds the file's lock. Returns errors of OpenSqliteWriter.
absl::StatusOr<SqliteDatabase> OpenDatasetForWriting(const std::string& path, const WriterOptions& options);

// Seals all pages of the dataset's file on its owner's request (ResealAllPages), under the file's lock. Stores the
// state of the pages in `scan`. Returns errors of OpenSqliteWriter.
absl::StatusOr<ResealReport> ResealDataset(const std::string& path, PageScan* scan);

// Opens the dataset's file for reading, also while a collector serves it, and also in a read-only folder. Returns
// errors of OpenSqliteReader.
absl::StatusOr<SqliteDatabase> OpenDatasetForReading(const std::string& path, const ReaderOptions& options);

// Opens or creates the file for `telemetry-collector copy` to fill: with durable commits and this program's schema, but
// without a dataset_id. An unfinished copy is opened unchanged. The caller holds the file's lock. Returns errors of
// OpenSqliteWriter.
absl::StatusOr<SqliteDatabase> OpenFileForCopying(const std::string& path);

// Adds checksums to the pages of an older dataset by rewriting the file in place, which temporarily needs free disk
// space of twice the file's size. Returns false if the pages had checksums. Crash-safe. Returns errors of
// OpenSqliteWriter.
absl::StatusOr<bool> AddPageChecksums(const std::string& path);

}  // namespace telemetry::storage::sqlite
