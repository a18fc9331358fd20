#include "server/storage/prune.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/storage/dataset_file.h"
#include "server/storage/lock_file.h"
#include "server/storage/statement.h"
#include "server/storage/transaction.h"

namespace telemetry::storage {
namespace {

// Oldest first. ?1: the first attempt behind this key; ?2: unfinished ones arrived before; ?3: all arrived before; ?4:
// also a run's newest.
constexpr char kCandidates[] = R"sql(
SELECT a.attempt, lower(hex(a.attempt_id)), r.run_id, coalesce(k.name, ''), a.first_received_unix_us,
       (SELECT count(*) FROM measurements AS m WHERE m.attempt = a.attempt)
FROM attempts AS a
JOIN runs AS r ON r.run = a.run
LEFT JOIN kernels AS k ON k.kernel = r.kernel
WHERE a.attempt > ?1
  AND (a.state NOT IN ('open', 'unspecified') OR a.first_received_unix_us < ?2)
  AND a.first_received_unix_us < ?3
  AND (?4 OR EXISTS (SELECT 1 FROM attempts AS newer WHERE newer.run = a.run AND newer.attempt > a.attempt))
ORDER BY a.attempt)sql";

constexpr const char* kRemoveAttempt[] = {
    "DELETE FROM measurement_details WHERE attempt = ?1",
    "DELETE FROM source_hashes WHERE attempt = ?1",
    "DELETE FROM measurements WHERE attempt = ?1",
    "DELETE FROM attempts WHERE attempt = ?1",
};

// ?1: the run's key, ?2: its kernel's.
constexpr const char* kRemoveRun[] = {
    "DELETE FROM ir_edges WHERE ir_graph IN (SELECT ir_graph FROM ir_graphs WHERE run = ?1)",
    "DELETE FROM ir_nodes WHERE ir_graph IN (SELECT ir_graph FROM ir_graphs WHERE run = ?1)",
    "DELETE FROM ir_graphs WHERE run = ?1",
    "DELETE FROM superseded_attempts WHERE run = ?1",
    "DELETE FROM run_configs WHERE run = ?1",
    "DELETE FROM run_settings WHERE run = ?1",
    "DELETE FROM runs WHERE run = ?1",
};

int64_t UnixUs(absl::Time time) { return time == absl::InfiniteFuture() ? INT64_MAX : absl::ToUnixMicros(time); }

absl::Time Cutoff(const PruneRules& rules, absl::Time now) {
  return rules.keep_age == absl::InfiniteDuration() ? absl::InfinitePast() : now - rules.keep_age;
}

std::string TimeText(int64_t unix_us) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%SZ", absl::FromUnixMicros(unix_us), absl::UTCTimeZone());
}

}  // namespace

absl::Status Pruner::CheckClock(const PruneRules& rules, absl::Time now) {
  if (rules.keep_age == absl::InfiniteDuration()) return absl::OkStatus();
  Statement query(database_, "SELECT max(first_received_unix_us) FROM attempts");
  const absl::StatusOr<bool> row = query.Step();
  if (!row.ok()) return row.status();
  if (query.IsNull(0)) return absl::OkStatus();
  const int64_t newest = query.Int(0);
  // Clocks are set by seconds, not by days.
  const bool in_the_future = absl::FromUnixMicros(newest) > now + absl::Hours(24);
  if (!in_the_future && absl::FromUnixMicros(newest) >= Cutoff(rules, now)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "nothing is removed by age: this machine's clock says ", TimeText(absl::ToUnixMicros(now)),
      ", and the newest attempt arrived ", TimeText(newest),
      in_the_future ? ", which is in the future" : ": all are too old", "; set the clock, or choose another age"));
}

absl::Status Pruner::ForEach(const PruneRules& rules, absl::Time now, absl::Time before, const Take& take) {
  Statement query(database_, kCandidates);
  query.Bind(int64_t{0}, UnixUs(now - kOpenFor), UnixUs(before), rules.also_only_attempts);
  while (true) {
    const absl::StatusOr<bool> row = query.Step();
    if (!row.ok()) return row.status();
    if (!*row) return absl::OkStatus();
    const PrunedAttempt attempt = {.attempt = query.Int(0),
                                   .attempt_id = std::string(query.Text(1)),
                                   .run_id = std::string(query.Text(2)),
                                   .kernel_name = std::string(query.Text(3)),
                                   .first_received_unix_us = query.Int(4),
                                   .rows = query.Int(5)};
    if (!take(attempt)) return absl::OkStatus();
  }
}

absl::StatusOr<int64_t> Pruner::UsedBytes() {
  int64_t pages = 0;
  for (const auto& [pragma, sign] : {std::pair("PRAGMA page_count", 1), std::pair("PRAGMA freelist_count", -1)}) {
    const absl::StatusOr<int64_t> count = database_.QueryInt(pragma);
    if (!count.ok()) return count.status();
    pages += sign * *count;
  }
  const absl::StatusOr<int64_t> page_bytes = database_.QueryInt("PRAGMA page_size");
  if (!page_bytes.ok()) return page_bytes.status();
  return pages * *page_bytes;
}

absl::StatusOr<std::vector<PrunedAttempt>> Pruner::Collect(const PruneRules& rules, absl::Time now, int64_t most_rows) {
  const absl::StatusOr<int64_t> used = UsedBytes();
  if (!used.ok()) return used.status();
  double too_many = static_cast<double>(*used) - static_cast<double>(rules.keep_bytes);
  double row_bytes = 0;
  if (too_many > 0) {
    const absl::StatusOr<int64_t> rows = database_.QueryInt("SELECT count(*) FROM measurements");
    if (!rows.ok()) return rows.status();
    row_bytes = static_cast<double>(*used) / static_cast<double>(std::max<int64_t>(*rows, 1));
  }

  std::vector<PrunedAttempt> found;
  int64_t rows = 0;
  const int64_t cutoff = UnixUs(Cutoff(rules, now));
  const absl::Time before = too_many > 0 ? absl::InfiniteFuture() : Cutoff(rules, now);
  const absl::Status status = ForEach(rules, now, before, [&](const PrunedAttempt& attempt) {
    if (attempt.first_received_unix_us >= cutoff && too_many <= 0) return true;
    rows += attempt.rows + 1;
    if (!found.empty() && rows > most_rows) return false;
    // At least something, so that a caller who measures again comes to an end.
    too_many -= std::max(row_bytes * static_cast<double>(attempt.rows), 1.0);
    found.push_back(attempt);
    return true;
  });
  if (!status.ok()) return status;
  return found;
}

absl::StatusOr<std::vector<PrunedAttempt>> Pruner::Plan(const PruneRules& rules, absl::Time now) {
  return Collect(rules, now, INT64_MAX);
}

absl::StatusOr<std::vector<PrunedAttempt>> Pruner::RemoveSome(const PruneRules& rules, absl::Time now) {
  absl::StatusOr<Transaction> transaction = Transaction::BeginWrite(database_);
  if (!transaction.ok()) return transaction.status();
  absl::StatusOr<std::vector<PrunedAttempt>> found = Collect(rules, now, kRowsAtOnce);
  if (!found.ok()) return found.status();
  for (const PrunedAttempt& attempt : *found) {
    if (absl::Status status = Remove(attempt); !status.ok()) return status;
  }
  if (absl::Status status = transaction->Commit(); !status.ok()) return status;
  return found;
}

absl::Status Pruner::Remove(const PrunedAttempt& attempt) {
  for (const char* sql : kRemoveAttempt) {
    if (absl::Status status = Statement(database_, sql).Bind(attempt.attempt).Run(); !status.ok()) return status;
  }
  return RemoveEmptyRun(attempt.run_id);
}

absl::Status Pruner::RemoveEmptyRun(const std::string& run_id) {
  int64_t run = 0;
  std::optional<int64_t> kernel;
  {
    Statement query(database_,
                    "SELECT run, kernel FROM runs WHERE run_id = ?1 AND "
                    "NOT EXISTS (SELECT 1 FROM attempts WHERE attempts.run = runs.run)");
    const absl::StatusOr<bool> row = query.Bind(run_id).Step();
    if (!row.ok() || !*row) return row.status();
    run = query.Int(0);
    if (!query.IsNull(1)) kernel = query.Int(1);
  }
  for (const char* sql : kRemoveRun) {
    if (absl::Status status = Statement(database_, sql).Bind(run).Run(); !status.ok()) return status;
  }
  return Statement(database_,
                   "DELETE FROM kernels WHERE kernel = ?1 AND "
                   "NOT EXISTS (SELECT 1 FROM runs WHERE runs.kernel = kernels.kernel)")
      .Bind(kernel)
      .Run();
}

absl::StatusOr<int64_t> Pruner::RemoveRejects(const PruneRules& rules, absl::Time now) {
  absl::StatusOr<Transaction> transaction = Transaction::BeginWrite(database_);
  if (!transaction.ok()) return transaction.status();
  absl::StatusOr<int64_t> removed = Statement(database_, "DELETE FROM rejects WHERE received_unix_us < ?1")
                                        .Bind(UnixUs(Cutoff(rules, now)))
                                        .RunCounting();
  if (!removed.ok()) return removed;
  if (absl::Status status = transaction->Commit(); !status.ok()) return status;
  return removed;
}

absl::StatusOr<PruneReport> PruneDataset(const std::string& path, const PruneRules& rules, absl::Time now,
                                         bool dry_run) {
  std::optional<LockFile> lock;
  if (!dry_run) {
    absl::StatusOr<LockFile> taken = LockFile::Acquire(path);
    if (!taken.ok()) return taken.status();
    lock.emplace(*std::move(taken));
  }
  absl::StatusOr<SqliteDatabase> database = dry_run ? OpenDatasetForReading(path, {}) : OpenDatasetForWriting(path, {});
  if (!database.ok()) return database.status();
  Pruner pruner(*database);
  if (absl::Status status = pruner.CheckClock(rules, now); !status.ok()) return status;
  PruneReport report;
  absl::StatusOr<int64_t> used = pruner.UsedBytes();
  if (!used.ok()) return used.status();
  report.bytes_before = report.bytes_after = *used;
  if (dry_run) {
    absl::StatusOr<std::vector<PrunedAttempt>> planned = pruner.Plan(rules, now);
    if (!planned.ok()) return planned.status();
    report.attempts = *std::move(planned);
    return report;
  }
  while (true) {
    absl::StatusOr<std::vector<PrunedAttempt>> removed = pruner.RemoveSome(rules, now);
    if (!removed.ok()) return removed.status();
    if (removed->empty()) break;
    std::move(removed->begin(), removed->end(), std::back_inserter(report.attempts));
  }
  absl::StatusOr<int64_t> rejects = pruner.RemoveRejects(rules, now);
  if (!rejects.ok()) return rejects.status();
  report.rejects = *rejects;
  used = pruner.UsedBytes();
  if (!used.ok()) return used.status();
  report.bytes_after = *used;
  return report;
}

}  // namespace telemetry::storage
