#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "server/copy/dataset_tables.h"
#include "server/storage/sql/database.h"
#include "server/storage/sql/long_failures.h"
#include "server/storage/sql/prepared_statement.h"
#include "server/storage/sql/statement.h"

namespace telemetry::copy {

// Adds rows to a table inside a transaction, whose commit also completes a COPY of the rows. For one thread.
class RowWriter {
 public:
  // Both arguments must outlive this object.
  RowWriter(storage::sql::Database& database, const DatasetTable& table);

  // Adds a row with the table's columns, which belongs to `run`.
  absl::Status Add(int64_t run, const storage::sql::Statement& row);

 private:
  void Bind(int column, const storage::sql::Statement& row);
  // Stores the failure of a row that is too long for the row itself.
  absl::Status AddLongFailure(const storage::sql::Statement& row);

  const DatasetTable& table_;
  const std::unique_ptr<storage::sql::PreparedStatement> insert_;
  storage::sql::LongFailures long_failures_;
};

}  // namespace telemetry::copy
