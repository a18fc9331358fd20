#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/sql/prepared_statement.h"

namespace telemetry::storage {

// One connection to the database of a dataset, whichever kind it is of. Used by one thread at a time. Statements and
// transactions on it must be gone before it is.
//
// Its SQL is what all kinds understand, with parameters ?1, ?2, ...
class Database {
 public:
  enum class Access { kRead, kWrite };

  virtual ~Database() = default;

  // An error is kept in the statement: its steps return it.
  virtual std::unique_ptr<PreparedStatement> Prepare(const char* sql) = 0;
  // Runs SQL that gives no rows, several statements at once too.
  virtual absl::Status Execute(const char* sql) = 0;
  // The first column of the first row. NOT_FOUND: no row.
  absl::StatusOr<int64_t> QueryInt(const char* sql);

  // Counts the rows that statements on this connection have inserted, updated or deleted so far, gathered ones among
  // them (gathered.h).
  virtual int64_t changed_rows() const = 0;

  // See Transaction, which is how to use these.
  virtual absl::Status Begin(Access access) = 0;
  virtual absl::Status Commit() = 0;
  virtual absl::Status RollBack() = 0;

  // Counts the connections of this process to databases of this kind that were lost and replaced. Data that was read
  // before a loss may be out of date. 0: connections are never lost.
  virtual uint64_t connections_lost() const { return 0; }

 protected:
  Database() = default;
  Database(Database&&) = default;
  Database& operator=(Database&&) = default;
};

}  // namespace telemetry::storage
