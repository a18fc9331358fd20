#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/prepared_statement.h"
#include "server/storage/sql/statement_text.h"

namespace telemetry::storage::sql {

// A connection to the database of a dataset, of any kind. Used by one thread at a time. Statements and transactions
// must be destroyed before their database.
class Database {
 public:
  enum class Access { kRead, kWrite };

  virtual ~Database() = default;

  // Prepare a statement. An error is stored in the statement and returned by its steps.
  virtual std::unique_ptr<PreparedStatement> Prepare(const StatementText& statement) = 0;
  virtual std::unique_ptr<PreparedStatement> Prepare(const BulkInsert& insert) = 0;
  // Runs one or more SQL statements that return no rows.
  virtual absl::Status Execute(const char* sql) = 0;
  // Returns the first column of the first row, or NOT_FOUND if there is no row.
  absl::StatusOr<int64_t> QueryInt(const char* sql);

  // Returns the number of rows that statements on this connection have inserted, updated or deleted so far, including
  // the rows of bulk inserts that are still to be stored.
  virtual int64_t changed_rows() const = 0;

  // Returns true if a failure that is too long for a row of `measurements` is stored in the table `long_failures`,
  // which then exists (migrations/README.md). The view `whole_measurements` has all failures.
  virtual bool has_long_failures() const { return false; }

  // Called by Transaction. Use that class instead.
  virtual absl::Status Begin(Access access) = 0;
  virtual absl::Status Commit() = 0;
  virtual absl::Status RollBack() = 0;

  // Counts the lost and replaced connections of this process to databases of this kind. Data that was read before a
  // loss may be out of date. 0 if connections are never lost.
  virtual uint64_t connections_lost() const { return 0; }

 protected:
  Database() = default;
  Database(Database&&) = default;
  Database& operator=(Database&&) = default;
};

}  // namespace telemetry::storage::sql
