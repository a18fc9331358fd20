#include "server/storage/tables/pruner.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "server/storage/sql/transaction.h"

namespace telemetry::storage::tables {
namespace {

// The number of attempts that one step examines. This is quick even if none of them may be removed.
constexpr int64_t kKeysAtOnce = 1000;

// Selects attempts in the order of arrival. ?1, ?2: first and last key; ?3: unfinished attempts only up to this key;
// ?4: 1: also a run's newest attempt; ?5: limit. The stand-in of an unknown run has no other attempt and is no reason
// to keep it.
constexpr char kCandidates[] = R"sql(
SELECT a.attempt, a.attempt_id, r.run_id, coalesce(k.name, ''), a.first_received_unix_us, a.run, a.is_run_unknown
FROM attempts AS a
JOIN runs AS r ON r.run = a.run
LEFT JOIN kernels AS k ON k.kernel = r.kernel
WHERE a.attempt BETWEEN ?1 AND ?2
  AND (a.state NOT IN ('open', 'unspecified') OR a.attempt <= ?3)
  AND (?4 = 1 OR a.is_run_unknown = 1
       OR EXISTS (SELECT 1 FROM attempts AS newer WHERE newer.run = a.run AND newer.attempt > a.attempt))
ORDER BY a.attempt LIMIT ?5)sql";

// Returns the approximate number of bytes that a reject occupies in the file. A large reject has its own pages.
int64_t RejectBytes(int64_t content_bytes) {
  constexpr int64_t kBesides = 256;
  constexpr int64_t kPage = 4096;
  return content_bytes < kPage / 4 ? content_bytes + kBesides : (content_bytes / kPage + 1) * kPage + kBesides;
}

// ?1: rejects below this key; ?2: limit.
constexpr char kRejects[] = R"sql(
SELECT r.reject, coalesce(p.sender, 0), length(r.raw) + length(r.message) + length(r.source) + length(r.origin)
FROM rejects AS r LEFT JOIN producers AS p ON p.producer_id = r.producer_id
WHERE r.reject < ?1 ORDER BY r.reject DESC LIMIT ?2)sql";

// Returns the bytes that the entries of the cache and the cost models occupy, approximately.
absl::StatusOr<int64_t> CachedBytes(sql::Database& database) {
  return database.QueryInt(
      "SELECT CAST((SELECT coalesce(sum(size_bytes), 0) FROM cache_senders) + "
      "(SELECT coalesce(sum(size_bytes), 0) FROM models WHERE stored_order IS NOT NULL) AS bigint)");
}

std::string TimeText(int64_t unix_us) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%SZ", absl::FromUnixMicros(unix_us), absl::UTCTimeZone());
}

// Returns the statement that counts the rows of attempt ?1, at most ?2.
constexpr sql::StatementText CountSome(const char* text) {
  return {.text = text, .key = sql::kInRun, .where = "attempt = ?1 LIMIT ?2) AS counted"};
}

PrunedAttempt ReadCandidate(const sql::Statement& row) {
  return {.attempt = row.Int(0),
          .run = row.Int(5),
          .attempt_id = record::HexEncode(row.Bytes(1)),
          .run_id = row.String(2),
          .kernel_name = row.String(3),
          .first_received_unix_us = row.Int(4),
          .is_run_unknown = row.Int(6) != 0};
}

// Refuses an age that covers the complete dataset: that is more often caused by a wrong clock than by an old dataset.
absl::Status CheckClock(sql::Database& database, const PruneRules& rules, absl::Time now) {
  sql::Statement query(database, "SELECT max(first_received_unix_us) FROM attempts");
  const absl::StatusOr<bool> row = query.Step();
  if (!row.ok() || query.IsNull(0)) return row.status();
  const int64_t newest = query.Int(0);
  // Ordinary corrections of a clock are seconds, not days.
  const bool in_the_future = absl::FromUnixMicros(newest) > now + absl::Hours(24);
  if (!in_the_future && absl::FromUnixMicros(newest) >= now - rules.keep_age) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "nothing is removed by age: this machine's clock says ", TimeText(absl::ToUnixMicros(now)),
      ", and the newest attempt arrived ", TimeText(newest),
      in_the_future ? ", which is in the future" : ": all are too old", "; set the clock, or choose another age"));
}

// Returns the largest key before the first arrival that is not older than `time`.
absl::StatusOr<int64_t> KeyBefore(sql::Database& database, const char* sql, absl::Time time) {
  ASSIGN_OR_RETURN(const std::optional<int64_t> key,
                   sql::Statement(database, sql).Bind(absl::ToUnixMicros(time)).QueryInt());
  return key.value_or(0);
}

absl::StatusOr<int64_t> AttemptBefore(sql::Database& database, absl::Time time) {
  return KeyBefore(database,
                   "SELECT coalesce((SELECT min(attempt) - 1 FROM attempts WHERE first_received_unix_us >= ?1), "
                   "(SELECT coalesce(max(attempt), 0) FROM attempts))",
                   time);
}

absl::StatusOr<int64_t> RejectBefore(sql::Database& database, absl::Time time) {
  return KeyBefore(database,
                   "SELECT coalesce((SELECT min(reject) - 1 FROM rejects WHERE received_unix_us >= ?1), "
                   "(SELECT coalesce(max(reject), 0) FROM rejects))",
                   time);
}

}  // namespace

absl::StatusOr<PruneReach> ComputeReach(sql::Database& database, const PruneRules& rules) {
  ServedTime served(database);
  ASSIGN_OR_RETURN(const OldKeys old, served.OlderThan(rules.keep_age));
  ASSIGN_OR_RETURN(const OldKeys given_up, served.OlderThan(kOpenFor));
  return PruneReach{.old = old, .given_up = given_up.attempt};
}

absl::StatusOr<PruneReach> ReachByClock(sql::Database& database, const PruneRules& rules, absl::Time now) {
  PruneReach reach;
  ASSIGN_OR_RETURN(const int64_t given_up, AttemptBefore(database, now - kOpenFor));
  reach.given_up = given_up;
  if (rules.keep_age == absl::InfiniteDuration()) return reach;
  RETURN_IF_ERROR(CheckClock(database, rules, now));
  ASSIGN_OR_RETURN(const int64_t attempt, AttemptBefore(database, now - rules.keep_age));
  ASSIGN_OR_RETURN(const int64_t reject, RejectBefore(database, now - rules.keep_age));
  reach.old = {.attempt = attempt, .reject = reject};
  return reach;
}

Pruner::Pruner(sql::Database& database, DatasetSpace& space, AttemptRemover& remover, const PruneRules& rules,
               const PruneReach& reach, const PruneStepLimits& limits)
    : database_(database),
      space_(space),
      remover_(remover),
      rules_(rules),
      reach_(reach),
      limits_(limits),
      candidates_(database, kCandidates),
      count_measurements_(database, CountSome("SELECT count(*) FROM (SELECT 1 FROM measurements")),
      count_events_(database, CountSome("SELECT count(*) FROM (SELECT 1 FROM attempt_events")) {}

sql::Statement& Pruner::Candidates(int64_t first, int64_t last, int64_t most) {
  return candidates_.Bind(first, last, reach_.given_up, rules_.also_only_attempts, most);
}

absl::StatusOr<std::vector<PrunedAttempt>> Pruner::Plan() {
  ASSIGN_OR_RETURN(const int64_t used, space_.UsedBytes());
  bool counted = false;
  while (!counted) {
    std::vector<int64_t> rejects;
    ASSIGN_OR_RETURN(const bool none_left, NextRejects(rejects));
    counted = none_left;
  }
  ASSIGN_OR_RETURN(const int64_t cached, CachedBytes(database_));
  int64_t rejected = 0;
  for (const auto& [sender, bytes] : reject_bytes_by_sender_) rejected += bytes;
  const int64_t of_attempts = used - space_.UncountedBytes(cached + rejected);
  double too_many = static_cast<double>(of_attempts) - static_cast<double>(rules_.keep_bytes);
  double row_bytes = 0;
  if (too_many > 0) {
    ASSIGN_OR_RETURN(const double of_a_row, space_.RowBytes(of_attempts));
    row_bytes = of_a_row;
  }
  std::vector<PrunedAttempt> found;
  sql::Statement& candidates = Candidates(0, too_many > 0 ? INT64_MAX : reach_.old.attempt, INT64_MAX);
  while (true) {
    ASSIGN_OR_RETURN(const bool row, candidates.Step());
    if (!row) return found;
    PrunedAttempt attempt = ReadCandidate(candidates);
    if (attempt.attempt > reach_.old.attempt && too_many <= 0) break;
    RETURN_IF_ERROR(CountRows(attempt));
    too_many -= row_bytes * static_cast<double>(attempt.rows);
    found.push_back(std::move(attempt));
  }
  candidates.Reset();
  return found;
}

absl::StatusOr<PruneStep> Pruner::RemoveSome() {
  ASSIGN_OR_RETURN(sql::Transaction transaction, sql::Transaction::BeginWrite(database_));
  ASSIGN_OR_RETURN(PruneStep step, RemoveSomeInTransaction());
  RETURN_IF_ERROR(transaction.Commit());
  return step;
}

absl::StatusOr<PruneStep> Pruner::RemoveSomeInTransaction() {
  ASSIGN_OR_RETURN(const int64_t before, space_.UsedBytes());
  PruneStep step;
  if (!rejects_done_) {
    ASSIGN_OR_RETURN(const bool no_rejects, RemoveRejects(step));
    rejects_done_ = no_rejects;
  }
  if (rejects_done_ && step.rejects == 0) {
    RETURN_IF_ERROR(CountNewRejects());
    ASSIGN_OR_RETURN(const int64_t cached, CachedBytes(database_));
    cache_bytes_ = cached;
    ASSIGN_OR_RETURN(const bool no_attempts, RemoveAttempts(step));
    step.done = no_attempts;
  }
  ASSIGN_OR_RETURN(const int64_t after, space_.UsedBytes());
  step.bytes = std::max<int64_t>(before - after, 0);
  step.used_bytes = after;
  step.counted_bytes = CountedBytes(after);
  return step;
}

absl::StatusOr<bool> Pruner::MayGo(int64_t attempt) {
  if (attempt <= reach_.old.attempt) return true;
  if (rules_.keep_bytes == INT64_MAX) return false;
  ASSIGN_OR_RETURN(const int64_t used, space_.UsedBytes());
  return CountedBytes(used) > rules_.keep_bytes;
}

absl::StatusOr<bool> Pruner::RemoveAttempts(PruneStep& step) {
  sql::Statement next(database_, "SELECT min(attempt) FROM attempts WHERE attempt > ?1");
  if (const absl::StatusOr<bool> row = next.Bind(looked_at_).Step(); !row.ok()) return row.status();
  if (next.IsNull(0)) return true;
  const int64_t first = next.Int(0);
  next.Reset();
  ASSIGN_OR_RETURN(const bool may_first_go, MayGo(first));
  if (!may_first_go) return true;
  ASSIGN_OR_RETURN(std::vector<PrunedAttempt> found, NextAttempts(first));
  for (PrunedAttempt& attempt : found) {
    ASSIGN_OR_RETURN(const bool may_go, MayGo(attempt.attempt));
    if (!may_go) return true;
    ASSIGN_OR_RETURN(const bool removed, Remove(attempt));
    if (!removed) continue;
    step.rows += attempt.rows;
    step.attempts.push_back(std::move(attempt));
  }
  return false;
}

absl::StatusOr<std::vector<PrunedAttempt>> Pruner::NextAttempts(int64_t first) {
  const int64_t last = first + kKeysAtOnce - 1;
  std::vector<PrunedAttempt> found;
  sql::Statement& candidates = Candidates(first, last, limits_.attempts);
  int64_t rows = 0;
  while (rows < limits_.rows) {
    ASSIGN_OR_RETURN(const bool row, candidates.Step());
    if (!row) break;
    found.push_back(ReadCandidate(candidates));
    RETURN_IF_ERROR(CountRows(found.back()));
    rows += found.back().rows + found.back().events;
  }
  candidates.Reset();
  const bool all = rows < limits_.rows && std::ssize(found) < limits_.attempts;
  looked_at_ = all ? last : found.back().attempt;
  return found;
}

absl::Status Pruner::CountRows(PrunedAttempt& attempt) {
  const sql::InRun run{attempt.run};
  ASSIGN_OR_RETURN(const std::optional<int64_t> rows,
                   count_measurements_.Bind(run, attempt.attempt, limits_.rows_counted).QueryInt());
  ASSIGN_OR_RETURN(const std::optional<int64_t> events,
                   count_events_.Bind(run, attempt.attempt, limits_.rows_counted).QueryInt());
  attempt.rows = rows.value_or(0);
  attempt.events = events.value_or(0);
  return absl::OkStatus();
}

absl::StatusOr<bool> Pruner::Remove(const PrunedAttempt& attempt) {
  ASSIGN_OR_RETURN(const bool is_locked, remover_.TryLock(attempt.run, attempt.attempt));
  if (!is_locked) return false;
  // Before the run was locked, another writer may have continued the attempt or deleted the run's newer attempts.
  ASSIGN_OR_RETURN(const bool is_still_one, Candidates(attempt.attempt, attempt.attempt, 1).Step());
  candidates_.Reset();
  if (!is_still_one) return false;
  ASSIGN_OR_RETURN(const std::optional<int64_t> removed, remover_.Remove(attempt.attempt));
  if (!removed.has_value()) return false;
  if (rules_.also_only_attempts || attempt.is_run_unknown) {
    RETURN_IF_ERROR(remover_.RemoveIfEmpty(attempt.run).status());
  }
  return true;
}

absl::StatusOr<bool> Pruner::RemoveRejects(PruneStep& step) {
  std::vector<int64_t> found;
  ASSIGN_OR_RETURN(bool none_left, NextRejects(found));
  sql::Statement remove(database_, "DELETE FROM rejects WHERE reject = ?1");
  for (const int64_t reject : found) {
    RETURN_IF_ERROR(remove.Bind(reject).Run());
  }
  step.rejects = std::ssize(found);
  return none_left;
}

absl::StatusOr<bool> Pruner::NextRejects(std::vector<int64_t>& found) {
  sql::Statement next(database_, kRejects);
  next.Bind(rejects_below_, limits_.rejects_looked_at);
  int64_t found_bytes = 0;
  for (int64_t looked_at = 0; looked_at < limits_.rejects_looked_at; ++looked_at) {
    if (std::ssize(found) >= limits_.rejects || found_bytes >= limits_.reject_bytes) break;
    ASSIGN_OR_RETURN(const bool row, next.Step());
    if (!row) return true;
    const int64_t reject = next.Int(0);
    const int64_t bytes = RejectBytes(next.Int(2));
    rejects_below_ = reject;
    int64_t& of_sender = reject_bytes_by_sender_[next.Int(1)];
    of_sender += bytes;
    const bool too_much = rules_.keep_rejects_bytes > 0 && of_sender > rules_.keep_rejects_bytes;
    // The newest reject stays: otherwise its key would be assigned again, and the reject that gets it would count as
    // old.
    const bool is_newest = newest_reject_ == 0;
    newest_reject_ = std::max(newest_reject_, reject);
    if (!is_newest && (too_much || reject <= reach_.old.reject)) {
      found.push_back(reject);
      found_bytes += bytes;
    } else {
      reject_bytes_ += bytes;
    }
  }
  return false;
}

absl::Status Pruner::CountNewRejects() {
  sql::Statement newer(database_,
                       "SELECT reject, length(raw) + length(message) + length(source) + length(origin) FROM rejects "
                       "WHERE reject > ?1 ORDER BY reject");
  newer.Bind(newest_reject_);
  while (true) {
    const absl::StatusOr<bool> row = newer.Step();
    if (!row.ok() || !*row) return row.status();
    newest_reject_ = newer.Int(0);
    reject_bytes_ += RejectBytes(newer.Int(1));
  }
}

}  // namespace telemetry::storage::tables
