#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "server/storage/postgresql/connection.h"
#include "server/storage/postgresql/portable_sql.h"

namespace telemetry::storage {

// What a transaction's gathered INSERTs (gathered.h) have for one table and the same columns.
struct PgGatheredRows {
  PgCopy copy;
  std::string bytes;  // as COPY's binary format has rows
};

// The rows of one transaction that wait to be copied into their tables. They take some 100 bytes each, and are no more
// than what the caller stores in a transaction.
class PgGathering {
 public:
  // `connection` must outlive this.
  explicit PgGathering(PgConnection& connection) : connection_(connection) {}

  // A transaction begins, in which rows wait or do not. What was left of another is forgotten.
  void Begin(bool is_on);
  bool is_on() const { return is_on_; }

  // Where the rows of a statement wait; lives as long as this.
  PgGatheredRows* RowsOf(PgCopy copy);
  // Copies what `sql` would have to see: the rows of each table that it names.
  absl::Status FlushFor(std::string_view sql);
  absl::Status FlushAll();
  // Since Begin: a row was there already, or others were in the way, and FlushFor or FlushAll said ABORTED.
  bool has_failed() const { return has_failed_; }

 private:
  absl::Status Flush(PgGatheredRows& rows);

  PgConnection& connection_;
  bool is_on_ = false;
  bool has_failed_ = false;
  std::vector<std::unique_ptr<PgGatheredRows>> tables_;
};

}  // namespace telemetry::storage
