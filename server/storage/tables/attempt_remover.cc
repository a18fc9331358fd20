#include "server/storage/tables/attempt_remover.h"

#include <map>
#include <utility>

#include "proto/base/status_macros.h"

namespace telemetry::storage::tables {
namespace {

// Returns the statement for the rows of attempt ?1.
constexpr sql::StatementText RowsOfAttempt(const char* text) {
  return {.text = text, .key = sql::kInRun, .where = "attempt = ?1"};
}

// Returns the statement for the rows of the IR graphs of run ?1.
constexpr sql::StatementText RowsOfGraphs(const char* text) {
  return {.text = text, .key = "run = ?1", .where = "ir_graph IN (SELECT ir_graph FROM ir_graphs WHERE run = ?1)"};
}

}  // namespace

AttemptRemover::AttemptRemover(sql::Database& database, Rows rows)
    : run_of_(database,
              "SELECT r.run_id, r.sender, r.run FROM attempts AS a JOIN runs AS r ON r.run = a.run "
              "WHERE a.attempt = ?1"),
      runs_(database, "SELECT run_id, sender, run FROM runs WHERE run_id = ?1 ORDER BY sender"),
      lock_run_(database, {.text = "SELECT run FROM runs WHERE run = ?1", .lock = sql::RowLock::kUpdate}),
      lock_attempt_(database, {.text = "SELECT run FROM attempts WHERE attempt = ?1", .lock = sql::RowLock::kUpdate}),
      try_lock_run_(database, {.text = "SELECT run FROM runs WHERE run = ?1", .lock = sql::RowLock::kUpdateOrSkip}),
      try_lock_attempt_(database,
                        {.text = "SELECT run FROM attempts WHERE attempt = ?1", .lock = sql::RowLock::kUpdateOrSkip}),
      remove_rows_(database, RowsOfAttempt("DELETE FROM measurements")),
      remove_beside_rows_{{{database, RowsOfAttempt("DELETE FROM measurement_details")},
                           {database, RowsOfAttempt("DELETE FROM source_hashes")},
                           {database, RowsOfAttempt("DELETE FROM attempt_events")}}},
      remove_attempt_(database, "DELETE FROM attempts WHERE attempt = ?1"),
      empty_run_(database,
                 "SELECT kernel FROM runs WHERE run = ?1 AND "
                 "NOT EXISTS (SELECT 1 FROM attempts WHERE attempts.run = runs.run)"),
      remove_run_{{{database, RowsOfGraphs("DELETE FROM ir_edges")},
                   {database, RowsOfGraphs("DELETE FROM ir_nodes")},
                   {database, "DELETE FROM ir_graphs WHERE run = ?1"},
                   {database, "DELETE FROM superseded_attempts WHERE run = ?1"},
                   {database, "DELETE FROM run_configs WHERE run = ?1"},
                   {database, "DELETE FROM run_settings WHERE run = ?1"},
                   {database, "DELETE FROM runs WHERE run = ?1"}}},
      remove_kernel_(database,
                     "DELETE FROM kernels WHERE kernel = ?1 AND "
                     "NOT EXISTS (SELECT 1 FROM runs WHERE runs.kernel = kernels.kernel)") {
  if (database.has_long_failures()) {
    remove_long_failures_.emplace(database, RowsOfAttempt("DELETE FROM long_failures"));
  }
  if (rows == Rows::kLater) {
    note_attempt_.emplace(database, "INSERT INTO removed_attempts (attempt, run) VALUES (?1, ?2)");
  }
}

absl::StatusOr<v1::DeleteStep> AttemptRemover::Remove(const Removal& removal) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> runs, LockRuns(removal));
  v1::DeleteStep step;
  for (size_t i = 0; i < removal.keys.size(); ++i) {
    ASSIGN_OR_RETURN(const std::optional<int64_t> rows, Remove(removal.keys[i]));
    if (!rows.has_value()) continue;
    v1::DeletedAttempt& removed = *step.add_attempts();
    removed = removal.attempts[i];
    removed.set_rows(static_cast<uint64_t>(*rows));
  }
  for (const int64_t run : runs) {
    ASSIGN_OR_RETURN(const bool removed, RemoveIfEmpty(run));
    if (removed) step.set_runs(step.runs() + 1);
  }
  return step;
}

absl::StatusOr<std::vector<int64_t>> AttemptRemover::LockRuns(const Removal& removal) {
  std::map<std::pair<std::string, int64_t>, int64_t> keys;  // by run_id and sender
  const auto add_rows = [&keys](sql::Statement& bound) -> absl::Status {
    while (true) {
      const absl::StatusOr<bool> row = bound.Step();
      if (!row.ok() || !*row) return row.status();
      keys.emplace(std::pair(bound.String(0), bound.Int(1)), bound.Int(2));
    }
  };
  for (const int64_t attempt : removal.keys) {
    RETURN_IF_ERROR(add_rows(run_of_.Bind(attempt)));
  }
  if (!removal.empty_runs_of.empty()) {
    RETURN_IF_ERROR(add_rows(runs_.Bind(removal.empty_runs_of)));
  }
  std::vector<int64_t> locked;
  for (const auto& [name, run] : keys) {
    // A run that was removed in the meantime is not locked, and none of its attempts will be found.
    RETURN_IF_ERROR(lock_run_.Bind(run).QueryInt().status());
    locked.push_back(run);
  }
  return locked;
}

absl::StatusOr<bool> AttemptRemover::TryLock(int64_t run, int64_t attempt) {
  ASSIGN_OR_RETURN(const std::optional<int64_t> locked_run, try_lock_run_.Bind(run).QueryInt());
  if (!locked_run.has_value()) return false;
  ASSIGN_OR_RETURN(const std::optional<int64_t> locked_attempt, try_lock_attempt_.Bind(attempt).QueryInt());
  return locked_attempt.has_value();
}

absl::StatusOr<std::optional<int64_t>> AttemptRemover::Remove(int64_t attempt) {
  absl::StatusOr<std::optional<int64_t>> run = lock_attempt_.Bind(attempt).QueryInt();
  if (!run.ok() || !run->has_value()) return run;
  if (note_attempt_.has_value()) {
    RETURN_IF_ERROR(note_attempt_->Bind(attempt, **run).Run());
    RETURN_IF_ERROR(remove_attempt_.Bind(attempt).Run());
    return 0;
  }
  for (sql::Statement& remove : remove_beside_rows_) {
    RETURN_IF_ERROR(remove.Bind(sql::InRun{**run}, attempt).Run());
  }
  if (remove_long_failures_.has_value()) {
    RETURN_IF_ERROR(remove_long_failures_->Bind(sql::InRun{**run}, attempt).Run());
  }
  ASSIGN_OR_RETURN(const int64_t rows, remove_rows_.Bind(sql::InRun{**run}, attempt).RunCounting());
  RETURN_IF_ERROR(remove_attempt_.Bind(attempt).Run());
  return rows;
}

absl::StatusOr<bool> AttemptRemover::RemoveIfEmpty(int64_t run) {
  absl::StatusOr<bool> is_empty = empty_run_.Bind(run).Step();
  if (!is_empty.ok() || !*is_empty) return is_empty;
  const std::optional<int64_t> kernel = empty_run_.IsNull(0) ? std::nullopt : std::optional(empty_run_.Int(0));
  empty_run_.Reset();
  for (sql::Statement& remove : remove_run_) {
    RETURN_IF_ERROR(remove.Bind(run).Run());
  }
  RETURN_IF_ERROR(remove_kernel_.Bind(kernel).Run());
  return true;
}

absl::StatusOr<bool> AttemptRemover::IsThere(int64_t attempt) {
  ASSIGN_OR_RETURN(const std::optional<int64_t> run, lock_attempt_.Bind(attempt).QueryInt());
  return run.has_value();
}

}  // namespace telemetry::storage::tables
