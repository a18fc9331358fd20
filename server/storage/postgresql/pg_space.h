#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/storage/postgresql/pg_database.h"

namespace telemetry::storage::postgresql {

// The disk space of a table of the dataset, with its indexes and its long values. The partitions of a table count as
// one table.
struct PgTableSpace {
  std::string name;
  int64_t bytes = 0;       // of its files
  int64_t used_bytes = 0;  // the estimated part of `bytes` that live rows occupy; new rows reuse the rest
  int64_t row_bytes = 0;   // the part of `used_bytes` in files that have rows; an empty file has a few pages
  int64_t rows = 0;        // live rows, as the server's statistics count them
};

// Returns the space of all tables. The server keeps the files of removed rows and reuses their space, so the files do
// not show how large the dataset is. The live rows of each table are known from the cumulative statistics, their
// average size from ANALYZE; a table that was never analyzed counts in full. After a crash the server counts live rows
// from zero until autovacuum has visited the table, so the estimate may be too small, but is never larger than the
// files. Partitions on other servers (postgres_fdw) do not count.
absl::StatusOr<std::vector<PgTableSpace>> ReadPgSpace(PgDatabase& database);

}  // namespace telemetry::storage::postgresql
