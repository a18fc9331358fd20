#pragma once

#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/base/steady.h"
#include "worker/tune/compile/compile_pool.h"
#include "worker/tune/compile_queue.h"
#include "worker/tune/measure/measurer.h"
#include "worker/tune/tune_subject.h"

namespace telemetry::worker::tune {

// The options of TuneProcesses.
struct TuneProcessOptions {
  compile::CompilePoolOptions compile = {.ends_stragglers = true};
  measure::MeasurerOptions measure;
  measure::MeasureEffort effort;
  // Optional: a pool with the options `compile` that compiles the first configs of the subject already (CompileAhead).
  std::shared_ptr<compile::CompilePool> pool;
  // Optional: a process with these options that was started before.
  std::shared_ptr<measure::OpeningProcess> opening;
  absl::Duration load_limit = absl::Seconds(60);  // time limit for loading the code of one config
  absl::Duration run_limit = absl::Seconds(5);    // time limit for one run of a config
};

// The processes that compile and measure the configs of one subject. Thread-compatible, but Measure and
// MeasureInterleaved may run, one call at a time, while another thread uses the queue.
class TuneProcesses {
 public:
  // Starts the measuring process in the background. Returns the errors of CompilePool::Create.
  static absl::StatusOr<std::unique_ptr<TuneProcesses>> Create(const TuneSubject& subject, TuneProcessOptions options);

  // The candidates that are compiling or waiting for a compiler.
  CompileQueue& queue() { return queue_; }
  // Cancels every compilation that has not completed and empties the queue.
  void CancelCompiling();
  // The maximum number of concurrent compilations.
  int compilers() const { return pool_->processes(); }
  compile::CompilePoolStats compile_stats() const { return pool_->stats(); }

  // Measure candidates that compiled successfully. The first call waits until the measuring process has started. Return
  // the errors of TuneSubject::measure_problem, Measurer::Start, MakeRequest and of the Measurer's method of the same
  // name.
  // `next` is the candidate that will probably be measured next: its code is loaded meanwhile. It is ignored if it did
  // not compile.
  absl::StatusOr<measure::wire::Outcome> Measure(const CompiledCandidate& compiled, double give_up_above_ms,
                                                 double far_above_ms,
                                                 const std::optional<CompiledCandidate>& next = std::nullopt);
  absl::StatusOr<measure::FinalOutcome> MeasureInterleaved(const std::vector<CompiledCandidate>& compiled,
                                                           const measure::FinalEffort& effort);
  // The duration from the start until the measuring process was ready; 0: it was not needed yet.
  absl::Duration preparing() const { return preparing_; }
  // The total duration of all calls of Measure and MeasureInterleaved.
  absl::Duration measuring() const { return measuring_; }

 private:
  TuneProcesses(const TuneSubject& subject, TuneProcessOptions options, std::shared_ptr<compile::CompilePool> pool);

  absl::StatusOr<measure::Measurer*> ReadyMeasurer();
  absl::StatusOr<measure::MeasureRequest> RequestFor(const CompiledCandidate& compiled) const;
  // Reports the steps of a config whose measurement lasted from `begin` until now.
  void ReportSteps(const CompiledCandidate& compiled, const measure::wire::Steps& steps, SteadyTime begin,
                   const std::optional<CompiledCandidate>& next) const;

  const TuneSubject subject_;
  const TuneProcessOptions options_;
  const std::shared_ptr<compile::CompilePool> pool_;
  CompileQueue queue_;
  // The measurer, and when it was ready.
  struct Started {
    std::unique_ptr<measure::Measurer> measurer;
    SteadyTime at;
  };
  const SteadyTime began_ = SteadyNow();
  std::future<absl::StatusOr<Started>> starting_;
  std::unique_ptr<measure::Measurer> measurer_;
  absl::Duration preparing_ = absl::ZeroDuration();
  absl::Duration measuring_ = absl::ZeroDuration();
};

}  // namespace telemetry::worker::tune
