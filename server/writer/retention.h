#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/clock/steady.h"
#include "server/storage/prune_rules.h"
#include "server/storage/store.h"

namespace telemetry::collector {

struct RetentionOptions {
  // What is kept; without rules: everything.
  storage::PruneRules rules;
  // How often the time that was served is written down, and what is too old or too much is looked for.
  absl::Duration interval = absl::Minutes(10);
  // While records wait, a step of the removal is done no more often than this.
  absl::Duration pause = absl::Milliseconds(100);
  // Must not be one that can be set (ServedTime says why).
  std::function<SteadyTime()> steady_clock = &SteadyNow;
};

// What the collector removes while it serves, and the counting of the time by which things grow old, which goes on
// without any rule. It works in small steps on the writer's thread, between two transactions of records, so that those
// wait no longer for it than for one another. For that thread; only state() is for all.
class Retention {
 public:
  struct State {
    uint64_t attempts_removed = 0;
    uint64_t bytes_removed = 0;
    absl::Duration served;                    // by the dataset
    std::optional<absl::Duration> last_pass;  // so long ago
  };

  explicit Retention(RetentionOptions options);

  // How long until Step has something to do. `busy`: records wait.
  absl::Duration Patience(bool busy) const;

  // Counts bytes of rejects that were stored. When they are as many as a sender may have, the next pass is due at once,
  // so that no sender has more than twice its budget for long.
  void AddRejects(uint64_t bytes);

  // Does a little of what is due. Errors as CommitBatches: the process has to end.
  absl::Status Step(storage::StoreWriter& writer);

  // Writes down what has been served since the last step.
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
  SteadyTime counted_to_;        // what has been served up to here is written down
  SteadyTime next_pass_;         // when none is under way
  SteadyTime stepped_at_;        // when the last step was over
  bool passing_ = false;         // a pass is under way
  uint64_t reject_bytes_ = 0;    // stored since the last pass began
  Removed pass_;                 // what it has removed
  bool said_too_large_ = false;  // no rule lets the dataset become as small as it should be

  mutable absl::Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_);
  std::optional<SteadyTime> last_pass_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::collector
