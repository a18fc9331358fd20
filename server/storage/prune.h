#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/storage/database.h"

namespace telemetry::storage {

// What may leave the dataset. An attempt goes whole, the one that arrived first goes first. Whatever the rules, there
// stay a run's newest attempt (unless also_only_attempts), and attempts that began to arrive in the last kOpenFor and
// have not ended: their producer may still send rows.
struct PruneRules {
  absl::Duration keep_age = absl::InfiniteDuration();  // attempts and rejects that arrived longer ago go
  int64_t keep_bytes = INT64_MAX;                      // of the database in use: as many go as it takes
  bool also_only_attempts = false;                     // and with them runs, their graphs and their kernels

  bool is_empty() const { return keep_age == absl::InfiniteDuration() && keep_bytes == INT64_MAX; }
};

inline constexpr absl::Duration kOpenFor = absl::Hours(7 * 24);

struct PrunedAttempt {
  int64_t attempt = 0;  // its key
  std::string attempt_id;
  std::string run_id;
  std::string kernel_name;
  int64_t first_received_unix_us = 0;
  int64_t rows = 0;
};

// Removes attempts by the rules, on the writer's own connection. For one thread.
class Pruner {
 public:
  explicit Pruner(Database& database) : database_(database) {}

  // FAILED_PRECONDITION: by the clock, either everything in the dataset is too old, or something arrived in the future:
  // the clock is more likely to be wrong than the dataset.
  absl::Status CheckClock(const PruneRules& rules, absl::Time now);

  // What the rules would remove now, in that order; by size as far as the rows' share of the bytes says.
  absl::StatusOr<std::vector<PrunedAttempt>> Plan(const PruneRules& rules, absl::Time now);

  // Removes some of it in one transaction, attempts of at most kRowsAtOnce rows together (or one larger one): the
  // write-ahead log stays short. Empty: nothing is left to remove. After an error nothing is known to be durable.
  absl::StatusOr<std::vector<PrunedAttempt>> RemoveSome(const PruneRules& rules, absl::Time now);
  static constexpr int64_t kRowsAtOnce = 20000;

  // Removes rejects that arrived too long ago; how many.
  absl::StatusOr<int64_t> RemoveRejects(const PruneRules& rules, absl::Time now);

  // Bytes of pages that hold something.
  absl::StatusOr<int64_t> UsedBytes();

 private:
  using Take = std::function<bool(const PrunedAttempt&)>;  // false: enough

  // Of at most so many rows together, or one larger attempt.
  absl::StatusOr<std::vector<PrunedAttempt>> Collect(const PruneRules& rules, absl::Time now, int64_t most_rows);
  absl::Status ForEach(const PruneRules& rules, absl::Time now, absl::Time before, const Take& take);
  absl::Status Remove(const PrunedAttempt& attempt);
  absl::Status RemoveEmptyRun(const std::string& run_id);

  Database& database_;
};

struct PruneReport {
  std::vector<PrunedAttempt> attempts;
  int64_t rejects = 0;
  int64_t bytes_before = 0;
  int64_t bytes_after = 0;  // of a dry run: as before
};

// Prunes a dataset that no collector serves. With `dry_run` also while one does, and nothing is changed. Errors are
// CheckClock's, OpenSqliteWriter's and OpenSqliteReader's.
absl::StatusOr<PruneReport> PruneDataset(const std::string& path, const PruneRules& rules, absl::Time now,
                                         bool dry_run);

}  // namespace telemetry::storage
