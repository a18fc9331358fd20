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

namespace telemetry::storage {

// Removes attempts, and runs without attempts, with all rows that belong to them: from any kind of database, also while
// others write to it. Configs, statuses and senders stay, and what the producers have committed. Part of a writer: one
// thread, inside its transaction.
class AttemptRemover {
 public:
  // A transaction that removes at most so many attempts, and ends with the one with which it has removed so many rows,
  // takes SQLite some ten milliseconds, and the write-ahead log stays short.
  static constexpr int64_t kRowsAtOnce = 2000;
  static constexpr int64_t kAttemptsAtOnce = 100;

  // `database` must outlive this.
  explicit AttemptRemover(Database& database);

  // Removes the attempts that are still there, and their runs if no attempt is left. Returns those that were there,
  // with the number of rows that each had.
  absl::StatusOr<v1::DeleteStep> Remove(const Removal& removal);

  // Removes one attempt. Returns the number of its rows; nullopt: it was not there. The caller has locked its run,
  // where others write.
  absl::StatusOr<std::optional<int64_t>> Remove(int64_t attempt);
  // Removes a run that has no attempts, and its kernel if no other run has it. Returns whether it did.
  absl::StatusOr<bool> RemoveIfEmpty(int64_t run);

  // Waits until whoever is removing the attempt is done.
  absl::StatusOr<bool> IsThere(int64_t attempt);

 private:
  // The keys of the runs that the removal is about, locked in the order in which all writers lock runs.
  absl::StatusOr<std::vector<int64_t>> LockRuns(const Removal& removal);

  Statement run_of_;
  Statement runs_;
  Statement lock_run_;
  Statement lock_attempt_;
  Statement remove_rows_;
  std::array<Statement, 2> remove_beside_rows_;
  Statement remove_attempt_;
  Statement empty_run_;
  std::array<Statement, 7> remove_run_;
  Statement remove_kernel_;
};

}  // namespace telemetry::storage
