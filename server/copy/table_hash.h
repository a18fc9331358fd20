#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "server/copy/dataset_tables.h"
#include "server/storage/sql/database.h"

namespace telemetry::copy {

// The contents of a table in short form.
struct TableHash {
  int64_t rows = 0;
  std::string sha256_hex;  // hash of all values of all rows, ordered by key

  bool operator==(const TableHash&) const = default;
};

// Hashes a table. Equal rows have equal hashes in both kinds of database. Must be called in a read transaction.
absl::StatusOr<TableHash> HashTable(storage::sql::Database& database, const DatasetTable& table);

}  // namespace telemetry::copy
