#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "proto/record/sidecar/row.h"
#include "proto/record/sidecar/trace_line.h"
#include "worker/forward/attempt_splitter.h"

namespace telemetry::worker::forward {

// The hash of what a row of the CSV and its line in the trace have in common: config, generation, status, and the two
// times as the CSV prints them.
using OutcomeKey = uint64_t;
OutcomeKey KeyOfRow(const record::sidecar::Row& row);
OutcomeKey KeyOfTrial(const record::sidecar::TraceTrial& trial);

// An outcome and its time: of a row in seconds since its attempt began, of a trial in seconds since its trace began.
struct TimedOutcome {
  OutcomeKey key = 0;
  double at_s = 0;
  bool is_measured = false;
};

// The rows of one CSV file and the beginnings of its attempts, for the assignment of a trace's trials. Not thread-safe.
class RowIndex {
 public:
  // Largest difference between the times of a row and of its trial. The CSV rounds to 0.01 s, twice in a difference,
  // and the trace line is written after the row.
  static constexpr double kToleranceS = 0.1;
  // Number of an attempt's first rows that are kept for FirstRows().
  static constexpr size_t kFirstRows = 64;

  void Add(const record::sidecar::Row& row, const AttemptSplitter::Placement& placement);
  uint64_t rows() const { return rows_; }
  // Returns whether any row has the outcome.
  bool Contains(OutcomeKey key) const { return keys_.contains(key); }

  // Takes the attempt's row with this outcome whose time is nearest to `at_s`, and returns its seq. Returns nullopt if
  // there is none within kToleranceS.
  std::optional<uint64_t> Take(size_t attempt, OutcomeKey key, double at_s);

  // Returns the attempts that were not claimed and whose first row has this outcome and a time of at most `latest_s`,
  // in order. With `same_run_as`, only those of the same run as this attempt.
  std::vector<size_t> Beginnings(OutcomeKey key, double latest_s, std::optional<size_t> same_run_as) const;
  // Returns the first rows of an attempt, at least one.
  absl::Span<const TimedOutcome> FirstRows(size_t attempt) const { return attempts_[attempt].first_rows; }
  // Removes an attempt from the results of Beginnings().
  void Claim(size_t attempt) { attempts_[attempt].is_claimed = true; }

 private:
  struct Attempt {
    std::vector<TimedOutcome> first_rows;
    size_t run = 0;  // number of the run
    bool is_claimed = false;
  };
  // A row that was not taken.
  struct Row {
    uint64_t seq = 0;
    double timestamp_s = 0;
  };

  uint64_t rows_ = 0;
  absl::flat_hash_set<OutcomeKey> keys_;
  absl::flat_hash_map<std::string, size_t> runs_;                    // numbers by run_id
  std::vector<Attempt> attempts_;                                    // by number
  absl::flat_hash_map<OutcomeKey, std::vector<size_t>> beginnings_;  // numbers of attempts
  absl::flat_hash_map<std::pair<size_t, OutcomeKey>, std::vector<Row>> rows_of_attempt_;
};

}  // namespace telemetry::worker::forward
