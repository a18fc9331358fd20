#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/postgresql/pg_database.h"
#include "server/storage/sql/statement.h"

namespace telemetry::storage::postgresql {

// The rows of the attempts in the table removed_attempts. An attempt may have any number of rows, which would take too
// long to delete in one transaction. Used by one process at a time, inside the caller's transaction; after an error the
// object must not be used again.
class PgRemovedRows {
 public:
  // Limits of a step, which takes the server about 10 ms.
  static constexpr int64_t kRowsAtOnce = 1000;
  static constexpr int64_t kLongBytesAtOnce = int64_t{4} << 20;
  static constexpr int kStatementsAtOnce = 40;

  // `database` must outlive this object.
  explicit PgRemovedRows(PgDatabase& database);

  // The rows that a step has deleted.
  struct Deleted {
    int64_t measurements = 0;
    int64_t events = 0;
    bool is_done = false;  // no rows are left
  };

  // Deletes some rows, oldest attempts first.
  absl::StatusOr<Deleted> DeleteSome();

 private:
  // Deletes a page of rows of the current table. Returns the number of rows.
  absl::StatusOr<int64_t> DeletePage(int64_t most);
  absl::StatusOr<bool> NextAttempt();
  absl::Status EndAttempt();

  int64_t attempt_ = 0;  // 0: none
  int64_t run_ = 0;
  size_t table_ = 0;      // rows of the tables before it are deleted
  int64_t last_seq_ = 0;  // rows of the table up to this one are deleted
  sql::Statement next_attempt_;
  sql::Statement end_attempt_;
  std::vector<std::unique_ptr<PgStatement>> delete_page_;  // for each table
};

}  // namespace telemetry::storage::postgresql
