#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "worker/debug/debug_options.h"
#include "worker/tune/measure/measure_outcome.h"
#include "worker/tune/measure/measure_problem.h"
#include "worker/tune/measure/measure_request.h"

namespace telemetry::worker::tune {

// Options of a Measurer.
struct MeasurerOptions {
  std::string device = "opencl:0";  // as OpenDevice accepts it
  // The program that is run as `tune-child measure`; "": this one.
  std::string program;
  // The time limit for the start of a process: opening the device and uploading the problem.
  absl::Duration start_limit = absl::Seconds(120);
  // The debug options for the values around the launch whose results are checked, on each data set; never for launches
  // that are timed. The measuring thread calls `on_debug` with the printed text; if it is not set, the text goes to
  // standard error.
  debug::DebugOptions debug;
  debug::DebugPrint on_debug;
};

// The limits of a final.
struct FinalEffort {
  int rounds = 60;
  // The time limit. The final ends early when it is exceeded, but not before kLeastRounds rounds.
  absl::Duration limit = absl::InfiniteDuration();
  std::function<void(int rounds)> on_rounds = nullptr;  // called with the rounds done so far

  static constexpr int kLeastRounds = 8;
};

// The result of a final: outcomes in the order of the requests, and the winner.
struct FinalOutcome {
  std::vector<MeasureOutcome> outcomes;
  // The index of the fastest config that is right; -1: none.
  int best = -1;
  // By request: the config is right and tied with the best (see TiedWithBest in sample_statistics.h). True for the best
  // itself.
  std::vector<bool> tied_with_best;
};

// Measures configs of one problem on one device in a separate process. An error of a config (an illegal access, an
// endless loop, a crash) ends that process and is reported as that config's failure. A second process, which is on
// standby with the problem in the device's memory, then measures the next config. Results are checked before anything
// is timed: a config with wrong results has no time.
//
// Only one thread may use it at a time. The processes end with this object, and when this process dies.
class Measurer {
 public:
  // Starts the processes. INVALID_ARGUMENT: the problem is not consistent (the message names the buffer). NOT_FOUND:
  // the device does not exist. RESOURCE_EXHAUSTED: the problem does not fit the device's memory. UNAVAILABLE: the
  // process cannot be started; the message contains the reason. Other errors are the device's.
  static absl::StatusOr<std::unique_ptr<Measurer>> Start(const MeasureProblem& problem, MeasurerOptions options);
  virtual ~Measurer() = default;

  // Measures a config. A failure of the config is part of the outcome. INVALID_ARGUMENT: a buffer that is not part of
  // the problem. UNAVAILABLE: no process could be started in place of one that ended; a later call tries again.
  virtual absl::StatusOr<MeasureOutcome> Measure(const MeasureRequest& request) = 0;

  // Checks the configs on the problem's last data set, then takes samples in turns, A B C A B C..., so that drift
  // (clocks, temperature, other programs) affects all configs equally. Each config gets one sample per round, and more
  // rounds are taken if throttling requires it. Returns the errors of Measure().
  virtual absl::StatusOr<FinalOutcome> MeasureInterleaved(absl::Span<const MeasureRequest> requests,
                                                          const FinalEffort& effort) = 0;
};

}  // namespace telemetry::worker::tune
