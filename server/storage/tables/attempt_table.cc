#include "server/storage/tables/attempt_table.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "server/storage/sql/attempt_state.h"

namespace telemetry::storage::tables {
namespace {

// A condition on the column run: the given run, or another sender's run with the same run_id.
#define TELEMETRY_SAME_RUN(given) \
  "run IN (SELECT o.run FROM runs AS r JOIN runs AS o ON o.run_id = r.run_id WHERE r.run = " given ") "

// The beginning of a statement: a table `ids` with one row for each id in ?1 (all ids concatenated); ?2 is their
// number.
#define TELEMETRY_WITH_IDS                                                                             \
  "WITH RECURSIVE places (place) AS (SELECT CAST(0 AS BIGINT) UNION ALL SELECT place + 1 FROM places " \
  "WHERE place + 1 < ?2), "                                                                            \
  "ids (attempt_id) AS (SELECT substr(?1, CAST(16 * place + 1 AS INTEGER), 16) FROM places) "
// A condition for those of the ids whose attempts may be dropped.
#define TELEMETRY_DROPPABLE                                                                                        \
  "attempt_id IN (SELECT attempt_id FROM ids) AND provisional = 1 AND (is_run_unknown = 1 OR " TELEMETRY_SAME_RUN( \
      "?3") ") AND origin = ?4 AND (sender IS NULL OR sender IS NOT DISTINCT FROM ?5)"

// Returns the statement for the rows of these attempts.
constexpr sql::StatementText RowsOfDroppable(const char* text) {
  return {.text = text,
          .key = sql::kInRun,
          .where = "attempt IN (SELECT attempt FROM attempts WHERE " TELEMETRY_DROPPABLE ")"};
}

bool IsRunUnknown(const v1::Attempt& attempt) { return attempt.run_id() == record::UnknownRunId(attempt.attempt_id()); }

}  // namespace

AttemptTable::AttemptTable(sql::Database& database, RunTable& runs, const CurrentSender& sender)
    : runs_(runs),
      sender_(sender),
      find_(database, {.text = "SELECT attempt, run, coalesce(sender, 0) FROM attempts WHERE attempt_id = ?1",
                       .lock = sql::RowLock::kKeyShare}),
      find_superseded_(database, "SELECT 1 FROM superseded_attempts WHERE attempt_id = ?1 LIMIT 1"),
      read_(database,
            "SELECT a.run, a.origin, a.dialect, a.state, a.provisional, a.started_unix_us, a.search_algorithm, a.seed, "
            "a.environment_json, a.counters_json, coalesce(a.sender, 0), r.run_id FROM attempts AS a "
            "JOIN runs AS r ON r.run = a.run WHERE a.attempt_id = ?1"),
      insert_(database,
              "INSERT INTO attempts (attempt_id, run, origin, dialect, state, provisional, started_unix_us, "
              "search_algorithm, seed, environment_json, counters_json, first_received_unix_us, sender, is_run_unknown) "
              "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) ON CONFLICT DO NOTHING"),
      update_(
          database,
          "UPDATE attempts SET state = ?2, provisional = ?3, started_unix_us = ?4, search_algorithm = ?5, seed = ?6, "
          "environment_json = ?7, counters_json = ?8 WHERE attempt_id = ?1"),
      is_superseded_(database,
                     "SELECT 1 FROM superseded_attempts WHERE attempt_id = ?1 AND (CAST(?2 AS BIGINT) = 0 OR "
                     TELEMETRY_SAME_RUN("?2") ") AND origin = ?3 "
                     "AND (sender IS NULL OR sender IS NOT DISTINCT FROM ?4) LIMIT 1"),
      remember_superseded_(
          database, TELEMETRY_WITH_IDS
          "INSERT INTO superseded_attempts (attempt_id, superseded_by, run, origin, sender) "
          "SELECT attempt_id, ?6, ?3, ?4, CAST(?5 AS BIGINT) FROM ids WHERE true ON CONFLICT DO NOTHING"),
      find_droppable_(database, {.text = TELEMETRY_WITH_IDS
                                 "SELECT run, is_run_unknown FROM attempts WHERE " TELEMETRY_DROPPABLE
                                 " ORDER BY attempt",
                                 .lock = sql::RowLock::kUpdate}),
      drop_measurements_(database, RowsOfDroppable(TELEMETRY_WITH_IDS "DELETE FROM measurements")),
      drop_source_hashes_(database, RowsOfDroppable(TELEMETRY_WITH_IDS "DELETE FROM source_hashes")),
      drop_details_(database, RowsOfDroppable(TELEMETRY_WITH_IDS "DELETE FROM measurement_details")),
      drop_events_(database, RowsOfDroppable(TELEMETRY_WITH_IDS "DELETE FROM attempt_events")),
      drop_(database, TELEMETRY_WITH_IDS "DELETE FROM attempts WHERE " TELEMETRY_DROPPABLE),
      // Keeps a run with which a producer has done more than to name it.
      drop_stand_in_(database,
                     "DELETE FROM runs WHERE run = ?1 AND kernel IS NULL AND input_shapes IS NULL AND dtypes IS NULL "
                     "AND hardware IS NULL AND settings_signature IS NULL AND extra_json IS NULL "
                     "AND NOT EXISTS (SELECT 1 FROM attempts AS a WHERE a.run = runs.run) "
                     "AND NOT EXISTS (SELECT 1 FROM superseded_attempts AS a WHERE a.run = runs.run) "
                     "AND NOT EXISTS (SELECT 1 FROM run_settings AS s WHERE s.run = runs.run) "
                     "AND NOT EXISTS (SELECT 1 FROM run_configs AS c WHERE c.run = runs.run) "
                     "AND NOT EXISTS (SELECT 1 FROM ir_graphs AS g WHERE g.run = runs.run)") {
  if (database.has_long_failures()) {
    drop_long_failures_.emplace(database, RowsOfDroppable(TELEMETRY_WITH_IDS "DELETE FROM long_failures"));
  }
}

void AttemptTable::Forget() {
  keys_.clear();
  last_id_.clear();
}

absl::StatusOr<AttemptTable::Known> AttemptTable::FindKnown(const std::string& attempt_id) {
  if (attempt_id == last_id_) return last_;
  if (const auto it = keys_.find(attempt_id); it == keys_.end()) {
    absl::StatusOr<Known> known = Find(attempt_id);
    // An unknown attempt may become known later, so this result is not cached.
    if (!known.ok() || known->key.attempt == kUnknown) return known;
    keys_.emplace(attempt_id, *known);
    last_ = *known;
  } else {
    last_ = it->second;
  }
  last_id_ = attempt_id;
  return last_;
}

absl::StatusOr<AttemptTable::RowTarget> AttemptTable::FindTarget(const std::string& attempt_id, MaybeRefusal& refusal) {
  ASSIGN_OR_RETURN(Known known, FindKnown(attempt_id));
  if (known.key.attempt > 0) return RowTarget{.key = known.key, .foreign = sender_.IsForeignTo(known.sender)};
  if (known.key.attempt == kUnknown) {
    refusal = Refusal{v1::Reject::REASON_UNKNOWN_REFERENCE, "attempt_id names an attempt that is not known"};
  }
  return RowTarget{};
}

absl::StatusOr<AttemptTable::Known> AttemptTable::Find(const std::string& attempt_id) {
  absl::StatusOr<bool> found = find_.Bind(sql::Blob{attempt_id}).Step();
  if (!found.ok()) return found.status();
  if (*found) {
    const Known known = {.key = {.run = find_.Int(1), .attempt = find_.Int(0)}, .sender = find_.Int(2)};
    find_.Reset();
    return known;
  }
  found = find_superseded_.Bind(sql::Blob{attempt_id}).Step();
  if (!found.ok()) return found.status();
  find_superseded_.Reset();
  return Known{.key = {.attempt = *found ? kSuperseded : kUnknown}};
}

absl::Status AttemptTable::Store(const v1::Attempt& attempt, int64_t now_unix_us, MaybeRefusal& refusal) {
  ASSIGN_OR_RETURN(std::optional<Row> row, Read(attempt.attempt_id()));
  if (!row.has_value() && IsRunUnknown(attempt)) {
    // A superseded attempt must not create its stand-in of a run again.
    ASSIGN_OR_RETURN(const bool superseded, IsSuperseded(attempt, /*run=*/0));
    if (superseded) return absl::OkStatus();
  }
  // A record that contradicts a known attempt must not create a new run.
  ASSIGN_OR_RETURN(int64_t run, row.has_value() ? LockRun(attempt, *row) : runs_.FindOrInsertKey(attempt.run_id()));
  if (row.has_value()) {
    if (absl::Status status = Merge(attempt, *row, refusal); !status.ok() || refusal) return status;
    // The record is a duplicate that changes nothing.
    if (sender_.IsForeignTo(row->sender)) return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(bool superseded, IsSuperseded(attempt, run));
  if (!row.has_value() && !superseded) {
    RETURN_IF_ERROR(Insert(attempt, run, now_unix_us));
  }
  // A superseded attempt covers more than the attempts that it supersedes itself, so these are removed too.
  if (attempt.supersedes_size() == 0) return absl::OkStatus();
  return Supersede(attempt, run);
}

absl::StatusOr<std::optional<AttemptTable::Row>> AttemptTable::Read(const std::string& attempt_id) {
  ASSIGN_OR_RETURN(bool found, read_.Bind(sql::Blob{attempt_id}).Step());
  if (!found) return std::nullopt;
  Row row{.run = read_.Int(0),
          .sender = read_.Int(10),
          .run_id = read_.String(11),
          .origin = read_.String(1),
          .dialect = read_.String(2),
          .state = sql::ParseAttemptState(read_.Text(3)),
          .provisional = read_.Int(4) != 0,
          .started_unix_us = IntColumn(read_, 5),
          .search_algorithm = TextColumn(read_, 6),
          .seed = IntColumn(read_, 7),
          .environment_json = TextColumn(read_, 8),
          .counters_json = TextColumn(read_, 9)};
  read_.Reset();
  return row;
}

absl::StatusOr<int64_t> AttemptTable::LockRun(const v1::Attempt& attempt, const Row& row) {
  // Most attempts belong to the current sender's own run, which may be locked already.
  absl::StatusOr<int64_t> own = runs_.Find(attempt.run_id());
  if (!own.ok() || *own == row.run) return own;
  RETURN_IF_ERROR(runs_.Lock(row.run));
  return row.run;
}

absl::Status AttemptTable::Merge(const v1::Attempt& attempt, Row& row, MaybeRefusal& refusal) {
  FieldMerge merge;
  merge.Required("run_id", row.run_id, attempt.run_id());
  merge.Required("origin", row.origin, attempt.origin());
  merge.Required("dialect", row.dialect, attempt.dialect());
  merge.Field("started_unix_us", row.started_unix_us,
              Optional(attempt.has_started_unix_us(), attempt.started_unix_us()));
  merge.Field("search_algorithm", row.search_algorithm, TELEMETRY_OPTIONAL(attempt, search_algorithm));
  merge.Field("seed", row.seed, Optional(attempt.has_seed(), attempt.seed()));
  merge.Field("environment_json", row.environment_json, TELEMETRY_OPTIONAL(attempt, environment_json));
  merge.Field("counters_json", row.counters_json, TELEMETRY_OPTIONAL(attempt, counters_json));
  if (merge.conflict()) {
    refusal = std::move(merge.conflict());
    return absl::OkStatus();
  }
  // provisional only changes from true to false, and a state only advances: a record with more knowledge wins.
  const bool provisional = row.provisional && attempt.provisional();
  const v1::Attempt::State state = std::max(row.state, attempt.state());
  if (!merge.changed() && provisional == row.provisional && state == row.state) return absl::OkStatus();
  if (sender_.IsForeignTo(row.sender)) {
    refusal =
        NotYours("the attempt belongs to another sender, and this would change it: send it with a token of that name");
    return absl::OkStatus();
  }
  const absl::StatusOr<int64_t> updated =
      update_
          .Bind(sql::Blob{attempt.attempt_id()}, sql::AttemptStateName(state), provisional, row.started_unix_us,
                row.search_algorithm, row.seed, row.environment_json, row.counters_json)
          .RunCounting();
  if (!updated.ok() || *updated == 1) return updated.status();
  return absl::AbortedError("another writer removed the attempt");
}

absl::Status AttemptTable::Insert(const v1::Attempt& attempt, int64_t run, int64_t now_unix_us) {
  // The cache may contain the id as superseded.
  keys_.erase(attempt.attempt_id());
  last_id_.clear();
  const absl::StatusOr<int64_t> inserted =
      insert_
          .Bind(sql::Blob{attempt.attempt_id()}, run, attempt.origin(), attempt.dialect(),
                sql::AttemptStateName(attempt.state()), attempt.provisional(),
                Optional(attempt.has_started_unix_us(), attempt.started_unix_us()),
                TELEMETRY_OPTIONAL(attempt, search_algorithm), Optional(attempt.has_seed(), attempt.seed()),
                TELEMETRY_OPTIONAL(attempt, environment_json), TELEMETRY_OPTIONAL(attempt, counters_json), now_unix_us,
                sender_.column(), IsRunUnknown(attempt))
          .RunCounting();
  if (!inserted.ok() || *inserted == 1) return inserted.status();
  return absl::AbortedError("another writer stored the same attempt of another run");
}

absl::StatusOr<bool> AttemptTable::IsSuperseded(const v1::Attempt& attempt, int64_t run) {
  if (!attempt.provisional()) return false;
  absl::StatusOr<bool> found =
      is_superseded_.Bind(sql::Blob{attempt.attempt_id()}, run, attempt.origin(), sender_.column()).Step();
  is_superseded_.Reset();
  return found;
}

absl::Status AttemptTable::Supersede(const v1::Attempt& by, int64_t run) {
  std::string ids;
  for (const std::string& id : by.supersedes()) ids.append(id);
  const auto bind = [&](sql::Statement& statement) -> sql::Statement& {
    return statement.Bind(sql::Blob{ids}, by.supersedes_size(), run, by.origin(), sender_.column());
  };
  absl::Status status =
      remember_superseded_
          .Bind(sql::Blob{ids}, by.supersedes_size(), run, by.origin(), sender_.column(), sql::Blob{by.attempt_id()})
          .Run();
  if (!status.ok()) return status;
  std::set<int64_t> runs;
  std::set<int64_t> stand_ins;
  bind(find_droppable_);
  while (true) {
    ASSIGN_OR_RETURN(const bool found, find_droppable_.Step());
    if (!found) break;
    runs.insert(find_droppable_.Int(0));
    if (find_droppable_.Int(1) != 0) stand_ins.insert(find_droppable_.Int(0));
  }
  if (runs.empty()) return absl::OkStatus();
  std::vector<sql::Statement*> drops = {&drop_measurements_, &drop_source_hashes_, &drop_details_, &drop_events_};
  if (drop_long_failures_.has_value()) drops.push_back(&*drop_long_failures_);
  for (const int64_t in_run : runs) {
    for (sql::Statement* drop : drops) {
      status = drop->Bind(sql::InRun{in_run}, sql::Blob{ids}, by.supersedes_size(), run, by.origin(), sender_.column())
                   .Run();
      if (!status.ok()) return status;
    }
  }
  if (status = bind(drop_).Run(); !status.ok()) return status;
  for (const std::string& id : by.supersedes()) keys_.erase(id);
  last_id_.clear();
  return RemoveStandIns(stand_ins);
}

absl::Status AttemptTable::RemoveStandIns(const std::set<int64_t>& runs) {
  if (runs.empty()) return absl::OkStatus();
  for (const int64_t run : runs) {
    RETURN_IF_ERROR(drop_stand_in_.Bind(run).Run());
  }
  runs_.Forget();
  return absl::OkStatus();
}

}  // namespace telemetry::storage::tables
