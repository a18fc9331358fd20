#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/base/steady.h"
#include "server/storage/prune_rules.h"
#include "server/storage/store.h"

namespace telemetry::writer {

// The rules of what serve keeps, and the pace of its passes.
struct RetentionOptions {
  // The rules of what to keep. Without rules everything is kept.
  storage::PruneRules rules;
  // The interval between passes. Each pass records the time served and looks for data that is too old or too large.
  absl::Duration interval = absl::Minutes(10);
  // While records wait, the least time between two removal steps.
  absl::Duration pause = absl::Milliseconds(100);
  // A clock that cannot be set (the reason is in ServedTime).
  std::function<SteadyTime()> steady_clock = &SteadyNow;
};

// The retention of a collector that serves: removes old data by the rules, and counts the served time by which data
// ages, also without rules. Retention works in small steps on the writer thread, between two transactions of records,
// so that records wait no longer for a step than for another transaction. Only the writer thread may use it, except for
// state().
class Retention {
 public:
  struct State {
    uint64_t attempts_removed = 0;
    uint64_t bytes_removed = 0;
    absl::Duration served;                    // the time that the dataset has been served
    std::optional<absl::Duration> last_pass;  // time since the end of the last pass; unset: no pass yet
  };

  explicit Retention(RetentionOptions options);

  // Returns the time until Step has something to do. `busy`: records wait.
  absl::Duration Patience(bool busy) const;

  // Counts the bytes of stored rejects. When they reach the budget of one sender, the next pass becomes due
  // immediately, so that no sender exceeds twice its budget for long.
  void AddRejects(uint64_t bytes);

  // Executes one step of the work that is due. Errors are those of CommitBatches: the process must end.
  absl::Status Step(storage::StoreWriter& writer);

  // Records the time served since the last step.
  absl::Status End(storage::StoreWriter& writer);

  State state() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Removed {
    uint64_t attempts = 0;
    uint64_t rows = 0;
    uint64_t rejects = 0;
    uint64_t bytes = 0;
  };

  absl::Status CountTime(storage::StoreWriter& writer);
  absl::Status RemoveSome(storage::StoreWriter& writer);
  void Add(const storage::PruneStep& step) ABSL_LOCKS_EXCLUDED(mutex_);
  void EndPass(const storage::PruneStep& last) ABSL_LOCKS_EXCLUDED(mutex_);

  const RetentionOptions options_;
  SteadyTime counted_to_;        // the served time up to here is recorded
  SteadyTime next_pass_;         // when no pass is running
  SteadyTime stepped_at_;        // end of the last step
  bool passing_ = false;         // a pass is running
  uint64_t reject_bytes_ = 0;    // rejects stored since the last pass began
  Removed pass_;                 // removed by the current pass
  bool said_too_large_ = false;  // logged that the rules cannot make the dataset small enough

  mutable absl::Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_);
  std::optional<SteadyTime> last_pass_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::writer
