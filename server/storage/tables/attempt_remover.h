#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/storage/removal.h"
#include "server/storage/sql/database.h"
#include "server/storage/sql/statement.h"
#include "telemetry/v1/deletion.pb.h"

namespace telemetry::storage::tables {

// Removes attempts, and runs without attempts, with all rows that belong to them. Works on any kind of database, also
// while other processes write to it. Configs, statuses, senders and the producers' committed_seq stay. Part of the
// writer: used by one thread, inside the writer's transaction.
class AttemptRemover {
 public:
  // Limits for one transaction: it removes at most kAttemptsAtOnce attempts, and ends with the attempt that reaches
  // kRowsAtOnce removed rows. SQLite needs about ten milliseconds for such a transaction, and the write-ahead log stays
  // short.
  static constexpr int64_t kRowsAtOnce = 2000;
  static constexpr int64_t kAttemptsAtOnce = 100;

  // When the rows of a removed attempt are deleted. kLater: the attempt itself is deleted, so that nothing finds its
  // rows, and is entered in the table removed_attempts, which only PostgreSQL has; another step deletes the rows.
  enum class Rows { kNow, kLater };

  // `database` must outlive this object.
  explicit AttemptRemover(sql::Database& database, Rows rows = Rows::kNow);

  // Removes the attempts that still exist, and their runs if no attempt is left. Returns the attempts that existed,
  // with the number of rows of each.
  absl::StatusOr<v1::DeleteStep> Remove(const Removal& removal);

  // Locks an attempt and its run for Remove(). Returns false if one of them does not exist, or if another transaction
  // is using it: this never waits.
  absl::StatusOr<bool> TryLock(int64_t run, int64_t attempt);
  // Removes one attempt and returns the number of rows that were deleted with it, or nullopt if the attempt did not
  // exist. If other processes write to the database, the caller must have locked the attempt's run.
  absl::StatusOr<std::optional<int64_t>> Remove(int64_t attempt);
  // Removes a run that has no attempts, and its kernel if no other run has it. Returns whether the run was removed.
  absl::StatusOr<bool> RemoveIfEmpty(int64_t run);

  // Returns whether the attempt exists. Blocks while another transaction is removing it.
  absl::StatusOr<bool> IsThere(int64_t attempt);

 private:
  // Returns the keys of the runs that the removal affects. Locks them in the order in which all writers lock runs.
  absl::StatusOr<std::vector<int64_t>> LockRuns(const Removal& removal);

  sql::Statement run_of_;
  sql::Statement runs_;
  sql::Statement lock_run_;
  sql::Statement lock_attempt_;
  sql::Statement try_lock_run_;
  sql::Statement try_lock_attempt_;
  sql::Statement remove_rows_;
  std::array<sql::Statement, 3> remove_beside_rows_;
  std::optional<sql::Statement> remove_long_failures_;  // only if the database has this table
  std::optional<sql::Statement> note_attempt_;          // only with Rows::kLater
  sql::Statement remove_attempt_;
  sql::Statement empty_run_;
  std::array<sql::Statement, 7> remove_run_;
  sql::Statement remove_kernel_;
};

}  // namespace telemetry::storage::tables
