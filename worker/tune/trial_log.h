#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "proto/base/steady.h"
#include "worker/codegen/config.h"
#include "worker/tune/journal.h"
#include "worker/tune/recording/attempt_counters.h"
#include "worker/tune/recording/attempt_recorder.h"
#include "worker/tune/recording/attempt_row.h"

namespace telemetry::worker::tune {

// A config whose measurement begins.
struct Beginning {
  int64_t generation = 0;
  codegen::Config config;
};

// The rows of an attempt. Each row is written to the journal first and then recorded. After a crash at any moment, the
// next process therefore knows every recorded row and records no row with two different contents. Not thread-safe.
class TrialLog {
 public:
  // Both must outlive the log. `journal` may be null; then the attempt cannot be resumed. `active_before` is the time
  // that earlier processes worked on the attempt.
  TrialLog(recording::AttemptRecorder* recorder, Journal* journal, absl::Duration active_before)
      : recorder_(*recorder), journal_(journal), active_before_(active_before) {}

  // Records the rows that earlier processes wrote to the journal. Call it before any other method. Here and below,
  // errors are those of the recorder and the journal.
  absl::Status Replay(std::vector<recording::AttemptRow> rows);

  // Notes that the search proposed configs after it had learnt so many of results(). The journal has this before any
  // row of the configs.
  void Propose(int64_t learnt) { learnt_.push_back(learnt); }

  // Records that the measurement of a config begins. Records nothing if an earlier process did so and then ended.
  absl::Status Start(int64_t generation, const codegen::Config& config);
  // Records the result of a config, then `others`, which are results of configs that are not measured, and, if `next`
  // is not null, that the measurement of another one begins: all with one fsync. Sets the rows' timestamp_s.
  absl::Status Finish(recording::AttemptRow row, const Beginning* next = nullptr,
                      std::vector<recording::AttemptRow> others = {});
  // Records several results atomically: after a crash the journal has all of them or none.
  absl::Status FinishAll(std::vector<recording::AttemptRow> rows);

  // Records that the attempt is complete. Uses the counters that an earlier process wrote to the journal, if any,
  // instead of `counters`.
  absl::Status End(const record::Json& counters);

  // Returns the search's result of this config, or null if there is none yet. The pointer is valid until the next call
  // of a non-const method.
  const recording::AttemptRow* Find(uint64_t config_id) const;
  // Returns the config whose measurement has begun and has no result yet: the one that an earlier process was measuring
  // when it ended.
  std::optional<codegen::Config> Interrupted() const;

  // Seconds that processes have worked on the attempt, this process included.
  double ActiveSeconds() const;
  // Returns counters computed from the rows; they do not depend on whether the attempt was resumed. Sets seconds_total;
  // the caller adds the other times and unique_sources.
  recording::AttemptCounters Counters() const;
  // Returns the ids of configs that compiled and then failed in a run: they crashed, ran too long or gave wrong
  // results. In the order of the search's results.
  std::vector<uint64_t> FailedRuns() const;
  // The number of the generation after the last one with a result. Earlier generations without a result count, too.
  int64_t generations() const { return generations_; }
  const std::vector<recording::AttemptRow>& rows() const { return rows_; }
  // The indices in rows() of the search's results, in their order.
  const std::vector<size_t>& results() const { return result_order_; }

 private:
  // The config that is being measured.
  struct Started {
    uint64_t config_id;
    size_t row;  // index of rows_
  };

  absl::Status Add(std::vector<recording::AttemptRow> rows);
  void Remember(recording::AttemptRow row);
  double Now() const;

  recording::AttemptRecorder& recorder_;
  Journal* const journal_;
  const absl::Duration active_before_;
  const SteadyTime began_ = SteadyNow();
  const absl::Duration since_start_ = absl::Now() - recorder_.info().started;  // age of the attempt at began_
  std::vector<recording::AttemptRow> rows_;
  std::map<uint64_t, size_t> results_;  // the search's results: config id to index of rows_
  std::vector<size_t> result_order_;
  std::vector<int64_t> learnt_;     // proposals that are not in the journal yet
  std::optional<Started> started_;  // unset: every started config has a result
  int64_t generations_ = 0;
};

}  // namespace telemetry::worker::tune
