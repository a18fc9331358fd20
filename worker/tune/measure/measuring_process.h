#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/clock/steady.h"
#include "worker/tune/measure/measure.pb.h"
#include "worker/tune/measure/measure_outcome.h"
#include "worker/tune/measure/measurer.h"
#include "worker/tune/measure/problem_image.h"
#include "worker/tune/process/child_process.h"

namespace telemetry::worker::tune {

// How long a step of a request may take.
struct PhaseLimits {
  absl::Duration load;
  absl::Duration run;
};

// What a request led to: outcomes, or the process' end.
struct Answer {
  std::optional<wire::Outcomes> outcomes;
  MeasureFailure ended;  // where there are no outcomes: in which phase, and how
};

// The parent's side of one measuring process. One thread at a time.
class MeasuringProcess {
 public:
  // Starts it and sends it the problem; does not wait until it is ready. UNAVAILABLE: it does not start; says why.
  static absl::StatusOr<std::unique_ptr<MeasuringProcess>> Start(const MeasurerOptions& options,
                                                                 const ProblemImage& image);

  // Waits until the problem is on the device. Errors are the session's; UNAVAILABLE: the process ended, or took longer
  // than the limit.
  absl::Status AwaitReady();

  // One request after AwaitReady. A process that is not done in time is killed. `on_rounds` is told how far a final is.
  Answer Ask(const wire::Request& request, const PhaseLimits& limits,
             const std::function<void(int rounds)>& on_rounds = nullptr);

  // Ends it, without waiting for its end.
  void Interrupt() { child_->Interrupt(); }
  bool IsRunning() { return child_->IsRunning(); }

 private:
  MeasuringProcess(std::unique_ptr<ChildProcess> child, const MeasurerOptions& options)
      : child_(std::move(child)), ready_until_(SteadyAfter(options.start_limit)), print_(options.on_debug) {}

  void Print(const std::string& text) const;
  Answer Ended(const std::string& phase, const absl::Status& status, absl::Duration limit);

  const std::unique_ptr<ChildProcess> child_;
  const SteadyTime ready_until_;
  const debug::DebugPrint print_;
  bool is_ready_ = false;
};

}  // namespace telemetry::worker::tune
