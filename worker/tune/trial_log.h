#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "proto/clock/steady.h"
#include "worker/codegen/config.h"
#include "worker/tune/journal.h"
#include "worker/tune/record/attempt_counters.h"
#include "worker/tune/record/attempt_recorder.h"
#include "worker/tune/verdict.h"

namespace telemetry::worker::tune {

// What became of a config in a generation.
struct TrialResult {
  int64_t generation = 0;
  codegen::Config config;
  Verdict verdict;
};

// A row of the final. All others are the search's, which proposes no config twice.
bool IsOfFinal(const RecordedRow& row);

// Every row of an attempt: written down in the journal, then recorded, so that a process that is killed at any moment
// is followed by one that knows what was measured, and no row has two contents. Not thread-safe.
class TrialLog {
 public:
  // Both must outlive the log. `journal` null: the attempt cannot be resumed.
  TrialLog(AttemptRecorder* recorder, Journal* journal, absl::Duration active_before)
      : recorder_(*recorder), journal_(journal), active_before_(active_before) {}

  // Records the rows that earlier processes wrote down. Call first. Errors here and below are the recorder's and the
  // journal's.
  absl::Status Replay(std::vector<RecordedRow> rows);

  // A config is about to be measured. Nothing is recorded where an earlier process had come so far.
  absl::Status Start(int64_t generation, const codegen::Config& config);
  absl::Status Finish(TrialResult result);
  // Several at once: after a crash all of them are known, or none.
  absl::Status FinishAll(std::vector<TrialResult> results);

  // The attempt is complete. Says what an earlier process said where one came so far.
  absl::Status End(const record::Json& counters);

  // The search's result of that config; null: there is none yet. Until the next call that is not const.
  const RecordedRow* Find(uint64_t config_id) const;
  // The config that was being measured when an earlier process ended.
  std::optional<codegen::Config> Interrupted() const;

  // How long processes have worked on the attempt, this one included.
  double ActiveSeconds() const;
  // From the rows: the same whether the attempt was resumed or not. Times and unique_sources are the caller's to add.
  AttemptCounters Counters() const;
  // How many generations have a result, those without counted that come before: the number of the next.
  int64_t generations() const { return generations_; }
  const std::vector<RecordedRow>& rows() const { return rows_; }

 private:
  // What is being measured.
  struct Started {
    uint64_t config_id;
    size_t row;  // index of rows_
  };

  absl::Status Add(std::vector<RecordedRow> rows);
  void Remember(RecordedRow row);
  double Now() const;

  AttemptRecorder& recorder_;
  Journal* const journal_;
  const absl::Duration active_before_;
  const SteadyTime began_ = SteadyNow();
  const absl::Duration since_start_ = absl::Now() - recorder_.info().started;  // of the attempt, at began_
  std::vector<RecordedRow> rows_;
  std::map<uint64_t, size_t> results_;  // the search's, by config id: indexes of rows_
  std::optional<Started> started_;      // without a result
  int64_t generations_ = 0;
};

}  // namespace telemetry::worker::tune
