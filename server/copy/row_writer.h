#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "server/copy/dataset_tables.h"
#include "server/storage/postgresql/pg_database.h"
#include "server/storage/sql/statement.h"
#include "server/storage/sqlite/sqlite_database.h"

namespace telemetry::copy {

// Adds rows to a table inside a transaction. For one thread.
class RowWriter {
 public:
  virtual ~RowWriter() = default;

  // Adds a row with the table's columns, which belongs to `run`.
  virtual absl::Status Add(int64_t run, const storage::sql::Statement& row) = 0;
  // Completes the writing; all rows are in the table if this returns OK. Must be called once, last.
  virtual absl::Status Finish() = 0;
};

// Both arguments must outlive the writer.
std::unique_ptr<RowWriter> NewSqliteRowWriter(storage::sqlite::SqliteDatabase& database, const DatasetTable& table);
std::unique_ptr<RowWriter> NewPostgresqlRowWriter(storage::postgresql::PgDatabase& database, const DatasetTable& table);

}  // namespace telemetry::copy
