#include "server/storage/tables/pruner.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/storage/sql/transaction.h"

namespace telemetry::storage::tables {
namespace {

// The number of attempts that one step examines. This is quick even if none of them may be removed.
constexpr int64_t kKeysAtOnce = 1000;

// Selects attempts in the order of arrival. ?1, ?2: first and last key; ?3: unfinished attempts only up to this key;
// ?4: also a run's newest attempt; ?5: limit. The stand-in of an unknown run has no other attempt and is no reason to
// keep it.
constexpr char kCandidates[] = R"sql(
SELECT a.attempt, lower(hex(a.attempt_id)), r.run_id, coalesce(k.name, ''), a.first_received_unix_us,
       (SELECT count(*) FROM measurements AS m WHERE m.attempt = a.attempt), a.run,
       (SELECT count(*) FROM attempt_events AS e WHERE e.attempt = a.attempt), a.is_run_unknown
FROM attempts AS a
JOIN runs AS r ON r.run = a.run
LEFT JOIN kernels AS k ON k.kernel = r.kernel
WHERE a.attempt BETWEEN ?1 AND ?2
  AND (a.state NOT IN ('open', 'unspecified') OR a.attempt <= ?3)
  AND (?4 OR a.is_run_unknown = 1 OR EXISTS (SELECT 1 FROM attempts AS newer WHERE newer.run = a.run AND newer.attempt > a.attempt))
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

std::string TimeText(int64_t unix_us) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%SZ", absl::FromUnixMicros(unix_us), absl::UTCTimeZone());
}

PrunedAttempt ReadCandidate(const sql::Statement& row) {
  return {.attempt = row.Int(0),
          .run = row.Int(6),
          .attempt_id = row.String(1),
          .run_id = row.String(2),
          .kernel_name = row.String(3),
          .first_received_unix_us = row.Int(4),
          .rows = row.Int(5),
          .is_run_unknown = row.Int(8) != 0};
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
                   "SELECT ifnull((SELECT min(attempt) - 1 FROM attempts WHERE first_received_unix_us >= ?1), "
                   "(SELECT ifnull(max(attempt), 0) FROM attempts))",
                   time);
}

absl::StatusOr<int64_t> RejectBefore(sql::Database& database, absl::Time time) {
  return KeyBefore(database,
                   "SELECT ifnull((SELECT min(reject) - 1 FROM rejects WHERE received_unix_us >= ?1), "
                   "(SELECT ifnull(max(reject), 0) FROM rejects))",
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

absl::StatusOr<int64_t> UsedBytes(sql::Database& database) {
  return database.QueryInt(
      "SELECT (p.page_count - f.freelist_count) * s.page_size "
      "FROM pragma_page_count AS p, pragma_freelist_count AS f, pragma_page_size AS s");
}

absl::StatusOr<int64_t> CachedBytes(sql::Database& database) {
  return database.QueryInt("SELECT coalesce(sum(size_bytes), 0) FROM cache_senders");
}

Pruner::Pruner(sql::Database& database, const PruneRules& rules, const PruneReach& reach)
    : database_(database), rules_(rules), reach_(reach), candidates_(database, kCandidates), remover_(database) {}

sql::Statement& Pruner::Candidates(int64_t first, int64_t last, int64_t most) {
  return candidates_.Bind(first, last, reach_.given_up, rules_.also_only_attempts, most);
}

absl::StatusOr<std::vector<PrunedAttempt>> Pruner::Plan() {
  ASSIGN_OR_RETURN(const int64_t used, UsedBytes(database_));
  bool counted = false;
  while (!counted) {
    std::vector<int64_t> rejects;
    ASSIGN_OR_RETURN(const bool none_left, NextRejects(rejects));
    counted = none_left;
  }
  ASSIGN_OR_RETURN(const int64_t cached, CachedBytes(database_));
  int64_t of_attempts = used - cached;
  for (const auto& [sender, bytes] : reject_bytes_by_sender_) of_attempts -= bytes;
  double too_many = static_cast<double>(of_attempts) - static_cast<double>(rules_.keep_bytes);
  double row_bytes = 0;
  if (too_many > 0) {
    ASSIGN_OR_RETURN(const int64_t rows, database_.QueryInt("SELECT count(*) FROM measurements"));
    // Each table and each index has a page of its own, however few rows there are.
    ASSIGN_OR_RETURN(const int64_t empty,
                     database_.QueryInt("SELECT count(*) * (SELECT page_size FROM pragma_page_size) FROM sqlite_schema "
                                        "WHERE rootpage > 0"));
    row_bytes = static_cast<double>(std::max<int64_t>(of_attempts - empty, 0)) /
                static_cast<double>(std::max<int64_t>(rows, 1));
  }
  std::vector<PrunedAttempt> found;
  sql::Statement& candidates = Candidates(0, too_many > 0 ? INT64_MAX : reach_.old.attempt, INT64_MAX);
  while (true) {
    ASSIGN_OR_RETURN(const bool row, candidates.Step());
    if (!row) return found;
    PrunedAttempt attempt = ReadCandidate(candidates);
    if (attempt.attempt > reach_.old.attempt && too_many <= 0) break;
    too_many -= row_bytes * static_cast<double>(attempt.rows);
    found.push_back(std::move(attempt));
  }
  candidates.Reset();
  return found;
}

absl::StatusOr<PruneStep> Pruner::RemoveSome() {
  ASSIGN_OR_RETURN(sql::Transaction transaction, sql::Transaction::BeginWrite(database_));
  ASSIGN_OR_RETURN(const int64_t before, UsedBytes(database_));
  PruneStep step;
  if (!rejects_done_) {
    ASSIGN_OR_RETURN(const bool no_rejects, RemoveRejects(step));
    rejects_done_ = no_rejects;
  }
  if (rejects_done_ && step.rejects == 0) {
    RETURN_IF_ERROR(CountNewRejects());
    ASSIGN_OR_RETURN(const int64_t cached, CachedBytes(database_));
    cache_bytes_ = cached;
    ASSIGN_OR_RETURN(const bool no_attempts, RemoveAttempts(before, step));
    step.done = no_attempts;
  }
  ASSIGN_OR_RETURN(const int64_t after, UsedBytes(database_));
  step.bytes = std::max<int64_t>(before - after, 0);
  step.used_bytes = after;
  step.reject_bytes = reject_bytes_;
  step.cache_bytes = cache_bytes_;
  RETURN_IF_ERROR(transaction.Commit());
  return step;
}

absl::StatusOr<bool> Pruner::RemoveAttempts(int64_t used_bytes, PruneStep& step) {
  const auto may_go = [this](int64_t attempt, int64_t used) {
    return attempt <= reach_.old.attempt || IsTooMuch(used);
  };
  sql::Statement next(database_, "SELECT min(attempt) FROM attempts WHERE attempt > ?1");
  if (const absl::StatusOr<bool> row = next.Bind(looked_at_).Step(); !row.ok()) return row.status();
  if (next.IsNull(0) || !may_go(next.Int(0), used_bytes)) return true;
  const int64_t first = next.Int(0);
  const int64_t last = first + kKeysAtOnce - 1;
  next.Reset();

  std::vector<PrunedAttempt> found;
  sql::Statement& candidates = Candidates(first, last, AttemptRemover::kAttemptsAtOnce);
  int64_t rows = 0;
  while (rows < AttemptRemover::kRowsAtOnce) {
    ASSIGN_OR_RETURN(const bool row, candidates.Step());
    if (!row) break;
    rows += candidates.Int(5) + candidates.Int(7);
    found.push_back(ReadCandidate(candidates));
  }
  candidates.Reset();
  const bool all = rows < AttemptRemover::kRowsAtOnce && std::ssize(found) < AttemptRemover::kAttemptsAtOnce;
  looked_at_ = all ? last : found.back().attempt;
  for (PrunedAttempt& attempt : found) {
    if (!may_go(attempt.attempt, used_bytes)) return true;
    RETURN_IF_ERROR(Remove(attempt));
    step.attempts.push_back(std::move(attempt));
    ASSIGN_OR_RETURN(const int64_t used, UsedBytes(database_));
    used_bytes = used;
  }
  return false;
}

absl::Status Pruner::Remove(const PrunedAttempt& attempt) {
  absl::Status status = remover_.Remove(attempt.attempt).status();
  if (!status.ok() || !(rules_.also_only_attempts || attempt.is_run_unknown)) return status;
  return remover_.RemoveIfEmpty(attempt.run).status();
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
  next.Bind(rejects_below_, kRejectsLookedAt);
  int64_t found_bytes = 0;
  for (int64_t looked_at = 0; looked_at < kRejectsLookedAt; ++looked_at) {
    if (std::ssize(found) >= kRejectsAtOnce || found_bytes >= kRejectBytesAtOnce) break;
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
