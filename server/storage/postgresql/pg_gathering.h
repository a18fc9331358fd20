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

// The rows of one transaction on their way into their tables. Where many of a table wait they are sent, and the server
// stores them while more are gathered; what became of them is asked before anything else is done on the connection.
class PgGathering {
 public:
  // `connection` must outlive this.
  explicit PgGathering(PgConnection& connection) : connection_(connection) {}

  // A transaction begins, in which rows wait or do not. What was left of another is forgotten.
  void Begin(bool is_on);
  bool is_on() const { return is_on_; }

  // Where the rows of a statement wait; lives as long as this.
  PgGatheredRows* RowsOf(PgCopy copy);
  // A row was added. Errors: as of Settle.
  absl::Status Added(PgGatheredRows& rows);
  // Copies what `sql` would have to see, the rows of each table that it names, and frees the connection for it.
  absl::Status FlushFor(std::string_view sql);
  absl::Status FlushAll();
  // Frees the connection: what was sent is stored, or this is why not.
  absl::Status Settle();
  bool is_under_way() const { return is_under_way_; }
  // Since Begin: a row was there already, or others were in the way, and one of these said ABORTED.
  bool has_failed() const { return has_failed_; }

 private:
  absl::Status Send(PgGatheredRows& rows);

  PgConnection& connection_;
  bool is_on_ = false;
  bool has_failed_ = false;
  bool is_under_way_ = false;  // the server has yet to say what became of a COPY
  std::vector<std::unique_ptr<PgGatheredRows>> tables_;
};

}  // namespace telemetry::storage
