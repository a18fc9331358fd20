#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "server/storage/postgresql/connection.h"
#include "server/storage/postgresql/pg_sql.h"

namespace telemetry::storage::postgresql {

// The rows of a transaction's bulk inserts (statement_text.h) into the same columns of one table.
struct PgBulkRows {
  PgCopy copy;
  std::string bytes;  // rows in COPY's binary format
};

// The buffered rows of one transaction's bulk inserts. When the buffer of a table is full, its rows are sent, and the
// server stores them while more rows are added. The result of the COPY is read before anything else is done on the
// connection.
class PgBulkInserts {
 public:
  // `connection` must outlive this object.
  explicit PgBulkInserts(PgConnection& connection) : connection_(connection) {}

  // Begins a transaction whose bulk inserts are buffered (`is_on`), or stored row by row. Discards the rows left over
  // from an earlier one.
  void Begin(bool is_on);
  bool is_on() const { return is_on_; }

  // Returns the buffer for a statement's rows, which lives as long as this object.
  PgBulkRows* FindRowBuffer(PgCopy copy);
  // Must be called after a row was added. Returns errors of FinishCopy().
  absl::Status Added(PgBulkRows& rows);
  // Copies the rows that `sql` must see (those of each table that it names), and makes the connection available for it.
  absl::Status FlushFor(std::string_view sql);
  absl::Status FlushAll();
  // Makes the connection available: waits until the rows that were sent are stored, or returns the reason why they were
  // not.
  absl::Status FinishCopy();
  bool is_copying() const { return is_copying_; }
  // Returns true if a call since Begin() returned ABORTED because a row already existed or another transaction was in
  // the way.
  bool has_failed() const { return has_failed_; }

 private:
  absl::Status Send(PgBulkRows& rows);

  PgConnection& connection_;
  bool is_on_ = false;
  bool has_failed_ = false;
  bool is_copying_ = false;  // a COPY has been sent and its result has not been read
  std::vector<std::unique_ptr<PgBulkRows>> tables_;
};

}  // namespace telemetry::storage::postgresql
