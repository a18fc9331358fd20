#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "worker/tune/suite.h"
#include "worker/tune/tune_session.h"

namespace telemetry::worker::tune {

struct SuiteOptions {
  TunerOptions tuner;  // what an entry does not say otherwise
  Settings settings;   // likewise
  // From the threads of the devices, one at a time: a generation's summary, a notice, how a task ended.
  std::function<void(const std::string& line)> on_line;
};

// What became of one entry on one kind of device.
struct SuiteOutcome {
  const SuiteEntry* entry = nullptr;
  std::string device;  // "cuda:1"
  absl::StatusOr<TaskResult> result = absl::CancelledError("not begun");
};

// Tunes every entry of a suite once on each kind of device that it names, with one thread per device: devices of one
// name share their entries, so that two GPUs take half the time. An entry that fails is an outcome, and the others go
// on. With options.tuner.stop set the rest is left out. Outcomes are in the order of the suite, by kind of device.
// NOT_FOUND: a device that is not there.
absl::StatusOr<std::vector<SuiteOutcome>> RunSuite(TuneSession& session, const Suite& suite,
                                                   const SuiteOptions& options);

// A line for each outcome: kernel, shapes, device, best and default time, speed-up, configs, seconds; or what went
// wrong.
std::string SummaryTable(const std::vector<SuiteOutcome>& outcomes);

}  // namespace telemetry::worker::tune
