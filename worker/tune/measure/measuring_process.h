#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/base/steady.h"
#include "worker/debug/debug_options.h"
#include "worker/tune/measure/measure.pb.h"
#include "worker/tune/measure/problem_image.h"
#include "worker/tune/process/child_process.h"
#include "worker/tune/process/step_report.h"

namespace telemetry::worker::tune::measure {

// Options of a Measurer.
struct MeasurerOptions {
  std::string device = "opencl:0";  // as OpenDevice accepts it
  // The program that is run as `tune-child measure`; "": this one.
  std::string program;
  // The time limit for the start of a process: opening the device and uploading the problem.
  absl::Duration start_limit = absl::Seconds(120);
  // The memory of the host that a process may use in addition to the problem's; 0: no limit. There is none for
  // processes that debug values, which copy tensors.
  uint64_t memory_limit_bytes = process::kDefaultMemoryLimitBytes;
  // The debug options for the values around the launch whose results are checked, on each data set; never for launches
  // that are timed. The measuring thread calls `on_debug` with the printed text; if it is not set, the text goes to
  // standard error.
  debug::DebugOptions debug;
  debug::DebugPrint on_debug;
  // Optional. Receives the time of the steps of the start and, from the tuner, of each config's steps.
  process::StepReport on_step;
};

// The time limits of the steps of a request.
struct PhaseLimits {
  absl::Duration load;
  absl::Duration run;
  absl::Duration load_next = absl::InfiniteDuration();  // for loading Request.next
};

// The result of a request: outcomes, or the end of the process.
struct Answer {
  std::optional<wire::Outcomes> outcomes;
  wire::Failure ended;         // set if there are no outcomes: the phase and the way in which the process ended
  bool ended_in_next = false;  // true: it ended while it loaded the next config, not in the work of the request
};

// The parent's side of one measuring process. Only one thread may use it at a time.
class MeasuringProcess {
 public:
  // Starts the process, which begins to open the device. UNAVAILABLE: the process cannot be started; the message
  // contains the reason.
  static absl::StatusOr<std::unique_ptr<MeasuringProcess>> Start(const MeasurerOptions& options);

  // Sends the problem, once; does not wait until the process is ready. UNAVAILABLE: the process has ended.
  absl::Status SetUp(const ProblemImage& image);

  // Blocks until the problem is on the device. Returns the errors of the session. UNAVAILABLE: the process ended, or
  // was not ready within the limit.
  absl::Status AwaitReady();

  // Sends one request after AwaitReady() and waits for the result. Kills a process that exceeds a limit. Calls
  // `on_rounds` with the number of rounds of a final that are done.
  Answer Ask(const wire::Request& request, const PhaseLimits& limits,
             const std::function<void(int rounds)>& on_rounds = nullptr);

  // Makes the process use the expected results that the image has by now. Returns the errors of AwaitReady().
  absl::Status TakeExpected(const PhaseLimits& limits);

  // Sends a request to read a buffer after an evaluation. INTERNAL: the process ended, or cannot read it.
  absl::StatusOr<std::string> Read(const wire::Request& request, const PhaseLimits& limits);

  // Kills the process without waiting for its end.
  void Interrupt() { child_->Interrupt(); }
  bool IsRunning() { return child_->IsRunning(); }

 private:
  MeasuringProcess(std::unique_ptr<process::ChildProcess> child, const MeasurerOptions& options)
      : child_(std::move(child)),
        start_limit_(options.start_limit),
        memory_limit_bytes_(options.debug.is_on() ? 0 : options.memory_limit_bytes),
        debug_(options.debug),
        print_(options.on_debug),
        on_step_(options.on_step) {}

  // Waits until `end` for a reply that says that the process is ready.
  absl::Status ReceiveReady(SteadyTime end);
  void Print(const std::string& text) const;
  Answer Ended(const std::string& phase, const absl::Status& status, absl::Duration limit);

  const std::unique_ptr<process::ChildProcess> child_;
  const absl::Duration start_limit_;
  SteadyTime ready_until_ = kNever;
  const uint64_t memory_limit_bytes_;
  const debug::DebugOptions debug_;
  const debug::DebugPrint print_;
  const process::StepReport on_step_;
  bool is_ready_ = false;
};

// A measuring process that opens the device before the problem is known. Thread-safe.
class OpeningProcess {
 public:
  // Take() returns null if the process cannot be started; the error shows when another one is.
  static std::shared_ptr<OpeningProcess> Start(const MeasurerOptions& options);

  // Returns the process at the first call, null later.
  std::unique_ptr<MeasuringProcess> Take() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::Mutex mutex_;
  std::unique_ptr<MeasuringProcess> process_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::worker::tune::measure
