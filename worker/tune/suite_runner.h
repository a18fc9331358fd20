#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "worker/tune/suite.h"
#include "worker/tune/tune_session.h"

namespace telemetry::worker::tune {

// The options of RunSuite.
struct SuiteOptions {
  TunerOptions tuner;  // defaults for entries; an entry's or the suite's effort overrides the effort
  AttemptRules rules;  // may_come_back is set by the runner
  // True: the first configs of an entry are compiled during the final of the entry before it, which needs no compiler.
  // Unset: for CUDA devices. An OpenCL device may be the CPU, whose measurements the compilers would disturb.
  std::optional<bool> compiles_ahead;
  runtime::Settings settings;  // of entries without settings of their own
  // Receives the summary of each generation, notices, errors of tasks and estimates of the time left. Called from the
  // threads of the devices, one call at a time.
  std::function<void(const std::string& line)> on_line;
};

// The outcome of one entry on one kind of device.
struct SuiteOutcome {
  const SuiteEntry* entry = nullptr;
  std::string device;  // "cuda:1"
  absl::StatusOr<TaskResult> result = absl::CancelledError("not begun");
};

// Tunes every entry of a suite once on each kind of device in the suite, with one thread per device. Devices with the
// same name share the entries, so two GPUs need half the time. All devices share the compilers (CompilerGroup). An
// entry that fails gives an outcome with its error, and the other entries continue. Once options.tuner.stop is set, no
// further entry begins. Outcomes are grouped by kind of device, in the order of the suite. Returns NOT_FOUND if a
// device does not exist.
absl::StatusOr<std::vector<SuiteOutcome>> RunSuite(TuneSession& session, const Suite& suite,
                                                   const SuiteOptions& options);

// Returns a table with a header and a line for each outcome: kernel and shapes, device, best and default time,
// speed-up, number of configs, seconds; or the error.
std::string SummaryTable(const std::vector<SuiteOutcome>& outcomes);

}  // namespace telemetry::worker::tune
