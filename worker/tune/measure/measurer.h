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

struct MeasurerOptions {
  std::string device = "opencl:0";  // as OpenDevice takes it
  // The program whose `tune-child measure` measures; "": this one.
  std::string program;
  // How long a process may take until it is ready: opening the device, uploading the problem.
  absl::Duration start_limit = absl::Seconds(120);
  // What is done with the values around the launch whose results are checked, on each data set; never around launches
  // that are timed. What is printed comes to `on_debug`, from the thread that measures; without one to standard error.
  debug::DebugOptions debug;
  debug::DebugPrint on_debug;
};

// The limits of a final.
struct FinalEffort {
  int rounds = 60;
  // Fewer rounds are taken where they would take longer, but at least kLeastRounds.
  absl::Duration limit = absl::InfiniteDuration();
  std::function<void(int rounds)> on_rounds = nullptr;  // called with the rounds done so far

  static constexpr int kLeastRounds = 8;
};

// The final: outcomes in the order of the requests, and who won.
struct FinalOutcome {
  std::vector<MeasureOutcome> outcomes;
  // Index of the fastest that is right; -1: none is.
  int best = -1;
  // By request: right, and not told apart from the best (sample_statistics.h says how that is decided). True of the
  // best itself.
  std::vector<bool> tied_with_best;
};

// Measures configs of one problem on one device, in a process of its own: what a config does wrong (an illegal access,
// an endless loop, a crash) ends that process, is told as that config's failure, and the next config is measured by a
// second process that stood by with the problem in the device's memory. Results are checked before anything is timed:
// a wrong config has no time.
//
// One thread at a time. The processes end with this object, and when this process dies.
class Measurer {
 public:
  // INVALID_ARGUMENT: the problem is not consistent (says which buffer). NOT_FOUND: there is no such
  // device. RESOURCE_EXHAUSTED: the problem does not fit the device's memory. UNAVAILABLE: the process does not start;
  // says why. Other errors are the device's.
  static absl::StatusOr<std::unique_ptr<Measurer>> Start(const MeasureProblem& problem, MeasurerOptions options);
  virtual ~Measurer() = default;

  // What is wrong with the config is in the outcome. INVALID_ARGUMENT: a buffer that the problem has not. UNAVAILABLE:
  // no process could be started to take the place of one that ended; a later call tries again.
  virtual absl::StatusOr<MeasureOutcome> Measure(const MeasureRequest& request) = 0;

  // Checks on the problem's last data set, then samples in turns, A B C A B C..., so that what drifts (clocks,
  // temperature, neighbours) meets all alike. As many samples of each as there are rounds, unless throttling needs
  // more. Errors are Measure's.
  virtual absl::StatusOr<FinalOutcome> MeasureInterleaved(absl::Span<const MeasureRequest> requests,
                                                          const FinalEffort& effort) = 0;
};

}  // namespace telemetry::worker::tune
