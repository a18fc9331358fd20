#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/copy/dataset_tables.h"
#include "server/storage/sql/database.h"
#include "server/storage/store.h"

namespace telemetry::copy {

// The source or the target of a copy: a dataset in a SQLite file or on a PostgreSQL server. For one thread.
class CopyPlace {
 public:
  virtual ~CopyPlace() = default;

  virtual storage::sql::Database& database() = 0;
  virtual absl::StatusOr<bool> IsUnfinished() = 0;
  // Returns a reader on a connection of its own, also for an unfinished copy.
  virtual absl::StatusOr<std::unique_ptr<storage::StoreReader>> OpenReader() = 0;
  // Returns a key above every key that an attempt has or had. Keys are never reused.
  virtual absl::StatusOr<int64_t> NextAttempt() = 0;
  // Sets the next keys of new rows above the existing keys. Must be called in a transaction.
  virtual absl::Status SetNextKeys(const std::vector<DatasetTable>& tables, int64_t next_attempt) = 0;
  // To be called after many changes: checkpoints the log of a file, or updates a server's statistics.
  virtual absl::Status Settle() = 0;
};

// Opens the source in the form of --db. A file is locked against collectors as long as the object exists, if its folder
// is writable. Returns ALREADY_EXISTS if a collector serves the file, else errors as storage::OpenReader().
absl::StatusOr<std::unique_ptr<CopyPlace>> OpenCopySource(const std::string& db);

// Opens the target, and creates it with this program's schema if it does not exist. An unfinished copy can be opened.
// Errors as for storage::OpenWriter().
absl::StatusOr<std::unique_ptr<CopyPlace>> OpenCopyTarget(const std::string& db);

}  // namespace telemetry::copy
