#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "server/storage/sqlite_database.h"

namespace telemetry::storage {

// Whether the pages of the database file have checksums. Errors are the disk's.
absl::StatusOr<bool> HasPageChecksums(SqliteDatabase& database);

struct PageScan {
  bool checked = false;             // pages have checksums
  uint32_t pages = 0;               // of the database
  std::vector<std::string> damage;  // one per page
};

// Reads each page of the database file but those that `superseded` names: what the write-ahead log holds will be
// written over, and may be half written already. Free pages, too. In a read transaction it may run beside a writer.
// Errors are the disk's.
absl::StatusOr<PageScan> ScanPages(SqliteDatabase& database, const absl::flat_hash_set<uint32_t>& superseded);

}  // namespace telemetry::storage
