#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "server/copy/dataset_tables.h"
#include "server/storage/postgresql/pg_database.h"
#include "server/storage/sql/statement.h"
#include "server/storage/sqlite/sqlite_database.h"

namespace telemetry::copy {

// Adds rows to a table, inside a transaction. One thread.
class RowWriter {
 public:
  virtual ~RowWriter() = default;

  // `row` has the table's columns and belongs to `run`.
  virtual absl::Status Add(int64_t run, const storage::Statement& row) = 0;
  // All rows are in the table when this is OK. Called once, last.
  virtual absl::Status Finish() = 0;
};

// Both arguments must outlive the writer.
std::unique_ptr<RowWriter> NewSqliteRowWriter(storage::SqliteDatabase& database, const DatasetTable& table);
std::unique_ptr<RowWriter> NewPostgresqlRowWriter(storage::PgDatabase& database, const DatasetTable& table);

}  // namespace telemetry::copy
