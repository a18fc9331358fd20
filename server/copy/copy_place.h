#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/copy/dataset_tables.h"
#include "server/copy/row_writer.h"
#include "server/storage/sql/database.h"
#include "server/storage/store.h"

namespace telemetry::copy {

// One end of a copy: a dataset in a SQLite file or on a PostgreSQL server, for one thread.
class CopyPlace {
 public:
  virtual ~CopyPlace() = default;

  virtual storage::Database& database() = 0;
  virtual bool Has(const DatasetTable& table) const = 0;
  virtual absl::StatusOr<bool> IsUnfinished() = 0;
  virtual std::unique_ptr<RowWriter> NewRowWriter(const DatasetTable& table) = 0;
  // A reader on a connection of its own, of an unfinished copy, too.
  virtual absl::StatusOr<std::unique_ptr<storage::StoreReader>> OpenReader() = 0;
  // Greater than the key of each attempt that there is or was: keys are never used twice.
  virtual absl::StatusOr<int64_t> NextAttempt() = 0;
  // New rows get keys behind those that there are. In the caller's transaction.
  virtual absl::Status SetNextKeys(const std::vector<DatasetTable>& tables, int64_t next_attempt) = 0;
  // After many changes: moves them out of a file's log, lets a server look at its tables.
  virtual absl::Status Settle() = 0;
};

// `db` is what --db takes. A file is kept from collectors as long as this lives, where that may be. ALREADY_EXISTS: a
// collector serves it. Else as storage::OpenReader.
absl::StatusOr<std::unique_ptr<CopyPlace>> OpenCopySource(const std::string& db);

// Makes it, with this program's schema, when there is nothing. Errors as storage::OpenWriter, but an unfinished copy is
// opened.
absl::StatusOr<std::unique_ptr<CopyPlace>> OpenCopyTarget(const std::string& db);

}  // namespace telemetry::copy
