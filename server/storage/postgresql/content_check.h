#pragma once

#include <string>
#include <vector>

#include "server/storage/postgresql/pg_database.h"

namespace telemetry::storage::postgresql {

// Returns the damage found in the contents of the dataset: rows that reference a row that does not exist (the
// partitioned tables have no foreign keys), key sequences that would assign an existing key again, and checksum
// failures that the server has counted. Reads every key. Must be called in a read transaction.
std::vector<std::string> CheckContent(PgDatabase& database);

// Returns whether the server's pages have checksums, so that it detects a flipped bit when it reads the page.
absl::StatusOr<bool> HasDataChecksums(PgDatabase& database);

}  // namespace telemetry::storage::postgresql
