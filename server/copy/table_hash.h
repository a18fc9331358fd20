#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "server/copy/dataset_tables.h"
#include "server/storage/sql/database.h"

namespace telemetry::copy {

struct TableHash {
  int64_t rows = 0;
  std::string sha256_hex;  // over all values of all rows, in the order of the keys

  bool operator==(const TableHash&) const = default;
};

// The same for the same rows, whichever kind of database they are in. In the caller's read transaction.
absl::StatusOr<TableHash> HashTable(storage::Database& database, const DatasetTable& table);

}  // namespace telemetry::copy
