#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "worker/kernel/bound_kernel.h"
#include "worker/tune/compile/compile_pool.h"
#include "worker/tune/compile_queue.h"
#include "worker/tune/measure/measurer.h"

namespace telemetry::worker::tune {

// The subject of an attempt: a kernel bound to arguments, and the inputs it is measured with.
struct TuneSubject {
  std::shared_ptr<BoundKernel> kernel;
  Arguments arguments;
  // Returns the inputs and the expected results (measure/kernel_problem.h). Called once, from another thread, because
  // computing references is slow and the tuner compiles meanwhile.
  std::function<absl::StatusOr<MeasureProblem>()> measure_problem;
};

// The options of Workbench.
struct WorkbenchOptions {
  CompilePoolOptions compile;
  MeasurerOptions measure;
  MeasureEffort effort;
  absl::Duration load_limit = absl::Seconds(60);  // time limit for loading the code of one config
  absl::Duration run_limit = absl::Seconds(5);    // time limit for one run of a config
};

// The processes that compile and measure the configs of one subject. Thread-compatible.
class Workbench {
 public:
  // Starts the measuring process in the background. Returns the errors of CompilePool::Create.
  static absl::StatusOr<std::unique_ptr<Workbench>> Create(const TuneSubject& subject, WorkbenchOptions options);

  // The candidates that are compiling or waiting for a compiler.
  CompileQueue& queue() { return queue_; }
  // Cancels every compilation that has not completed and empties the queue.
  void CancelCompiling();
  // The maximum number of concurrent compilations.
  int compilers() const { return pool_->processes(); }
  CompilePoolStats compile_stats() const { return pool_->stats(); }

  // Measure candidates that compiled successfully. The first call waits until the measuring process has started. Return
  // the errors of TuneSubject::measure_problem, Measurer::Start, RequestOf and of the Measurer's method of the same
  // name.
  absl::StatusOr<MeasureOutcome> Measure(const CompiledCandidate& compiled, double give_up_above_ms);
  absl::StatusOr<FinalOutcome> MeasureInterleaved(const std::vector<CompiledCandidate>& compiled,
                                                  const FinalEffort& effort);
  // The total duration of all calls of Measure and MeasureInterleaved.
  absl::Duration measuring() const { return measuring_; }

 private:
  Workbench(const TuneSubject& subject, WorkbenchOptions options, std::unique_ptr<CompilePool> pool);

  absl::StatusOr<Measurer*> ReadyMeasurer();
  absl::StatusOr<MeasureRequest> RequestFor(const CompiledCandidate& compiled) const;

  const TuneSubject subject_;
  const WorkbenchOptions options_;
  const std::unique_ptr<CompilePool> pool_;
  CompileQueue queue_;
  std::future<absl::StatusOr<std::unique_ptr<Measurer>>> starting_;
  std::unique_ptr<Measurer> measurer_;
  absl::Duration measuring_ = absl::ZeroDuration();
};

}  // namespace telemetry::worker::tune
