#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "worker/tune/compile_queue.h"
#include "worker/tune/measure/measure.pb.h"

namespace telemetry::worker::tune {

// A line of compiled candidates, which a thread measures one after the other, so that the device does not wait while
// the tuner's thread records a result or takes a proposal. Used by the tuner's thread only.
class MeasureLine {
 public:
  // Measures a candidate. `best_ms` is the best time so far; infinity: there is none. `next` is the candidate that
  // follows, if it is in the line.
  using Measure = std::function<absl::StatusOr<measure::wire::Outcome>(
      const CompiledCandidate& candidate, double best_ms, const std::optional<CompiledCandidate>& next)>;

  struct Result {
    CompiledCandidate candidate;
    absl::StatusOr<measure::wire::Outcome> outcome;
  };

  // `most_waiting` is the number of candidates that may wait while another one is measured. Calls `measure` and, after
  // each result, `on_result` from the line's thread.
  MeasureLine(size_t most_waiting, Measure measure, std::function<void()> on_result);
  // Waits for the candidate that is being measured.
  ~MeasureLine();
  MeasureLine(const MeasureLine&) = delete;
  MeasureLine& operator=(const MeasureLine&) = delete;

  // Returns true if the line takes another candidate.
  bool HasRoom() const ABSL_LOCKS_EXCLUDED(mutex_);
  void Add(CompiledCandidate candidate) ABSL_LOCKS_EXCLUDED(mutex_);
  // Takes a time of another origin into account, such as that of an earlier process.
  void NoteTime(double ms) ABSL_LOCKS_EXCLUDED(mutex_);

  // The number of candidates whose result was not taken, those that wait included.
  size_t size() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the next result, in the order of the candidates, if it is there.
  std::optional<Result> Take() ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits for the next result. size() must not be 0.
  Result Await() ABSL_LOCKS_EXCLUDED(mutex_);
  // Removes the candidates whose measurement has not begun.
  void DropWaiting() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Run();
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return is_ending_ || !waiting_.empty(); }
  bool HasResult() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !results_.empty(); }

  const size_t most_waiting_;
  const Measure measure_;
  const std::function<void()> on_result_;
  mutable absl::Mutex mutex_;
  std::deque<CompiledCandidate> waiting_ ABSL_GUARDED_BY(mutex_);
  bool is_measuring_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<Result> results_ ABSL_GUARDED_BY(mutex_);
  double best_ms_ ABSL_GUARDED_BY(mutex_) = std::numeric_limits<double>::infinity();
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace telemetry::worker::tune
