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

// What is tuned: a kernel bound to arguments, and what it is measured on.
struct TuneSubject {
  std::shared_ptr<BoundKernel> kernel;
  Arguments arguments;
  // Called once, from another thread: inputs and what has to come of them (measure/kernel_problem.h). References are
  // slow; compiling goes on meanwhile.
  std::function<absl::StatusOr<MeasureProblem>()> measure_problem;
};

struct WorkbenchOptions {
  CompilePoolOptions compile;
  MeasurerOptions measure;
  MeasureEffort effort;
  absl::Duration load_limit = absl::Seconds(60);
  absl::Duration run_limit = absl::Seconds(5);
};

// The processes that compile and measure the configs of one subject. One thread at a time.
class Workbench {
 public:
  // Starts the measuring process in the background. Errors are CompilePool::Create's.
  static absl::StatusOr<std::unique_ptr<Workbench>> Create(const TuneSubject& subject, WorkbenchOptions options);

  // What is compiled, or waits for it.
  CompileQueue& queue() { return queue_; }
  // Ends all that is not compiled yet; it is no longer under way.
  void CancelCompiling();
  // At most so many compile at the same time.
  int compilers() const { return pool_->processes(); }
  CompilePoolStats compile_stats() const { return pool_->stats(); }

  // Of code that compiled. Waits for the measuring process at first. Errors are TuneSubject::measure_problem's,
  // Measurer::Start's, Measurer::Measure's and RequestOf's.
  absl::StatusOr<MeasureOutcome> Measure(const CompiledCandidate& compiled, double give_up_above_ms);
  absl::StatusOr<FinalOutcome> MeasureInterleaved(const std::vector<CompiledCandidate>& compiled,
                                                  const FinalEffort& effort);
  // How long these two took, all calls together.
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
