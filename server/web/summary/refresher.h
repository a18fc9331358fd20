#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/base/steady.h"
#include "server/storage/sql/database.h"
#include "server/web/summary/attempt_store.h"
#include "server/web/summary/run_table.h"
#include "server/web/summary/step_table.h"
#include "server/web/summary/text_table.h"

namespace telemetry::web::summary {

// The progress of the summaries.
struct Progress {
  uint64_t version = 0;  // grows with each change
  int64_t done_attempts = 0;
  int64_t total_attempts = 0;
  bool complete = false;
};

// Keeps the summaries up to date with the dataset: reads all attempts once, the newest first, and then those that are
// new or have changed. It does not depend on the process that changes the dataset. Used by one thread.
//
// A change is found within a second in attempts that arrived or changed lately, and by a sweep over all attempts
// otherwise: removed attempts, rows that arrive long after their attempt, descriptions that arrive later.
class Refresher {
 public:
  // Both databases must outlive the refresher.
  Refresher(storage::sql::Database& dataset, storage::sql::Database& scratch);

  // Does the work of one interval, in transactions of at most about 50 ms each. Returns true if it changed something.
  // Returns errors of the databases; the next call tries again.
  absl::StatusOr<bool> Refresh();
  const Progress& progress() const { return progress_; }

 private:
  // Runs one step in transactions on both databases.
  absl::Status InTransactions(const std::function<absl::Status()>& step);
  absl::Status FindNew();
  absl::Status FindOld();
  absl::Status LookAtGrowing();
  absl::Status Sweep();
  // Looks at an attempt of the dataset that the sweep has reached; `stored`: its summary, nullptr if there is none.
  absl::Status SweepAttempt(AttemptState attempt, const AttemptState* stored);

  absl::Status Update(const AttemptState& attempt);
  absl::Status Remove(const AttemptState& attempt);
  // Computes what depends on the changed attempts and descriptions.
  absl::Status Settle();
  absl::Status SettleRun(int64_t run, std::set<SeriesKey>* series);

  storage::sql::Database& dataset_;
  storage::sql::Database& scratch_;
  TextTable texts_;
  AttemptStore attempts_;
  RunTable runs_;
  StepTable steps_;
  storage::sql::Statement count_attempts_;

  Progress progress_;
  int64_t newest_ = 0;              // attempts up to this key, from oldest_ on, are stored
  int64_t oldest_ = 0;              // 0: none is stored yet
  int64_t swept_ = 0;               // the sweep has reached this key
  std::set<int64_t> changed_runs_;  // runs whose attempts have changed
  std::set<int64_t> seen_runs_;     // runs whose descriptions may have changed
  // Attempts that took long to summarise, and when they may be summarised again.
  absl::flat_hash_map<int64_t, SteadyTime> rests_;
  bool changed_ = false;
};

}  // namespace telemetry::web::summary
