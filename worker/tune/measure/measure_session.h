#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/debug/debug_options.h"
#include "worker/device/device.h"
#include "worker/tune/measure/clock_watch.h"
#include "worker/tune/measure/launch_debugger.h"
#include "worker/tune/measure/loaded_config.h"
#include "worker/tune/measure/measure.pb.h"
#include "worker/tune/measure/problem_memory.h"
#include "worker/tune/measure/sampler.h"
#include "worker/tune/process/shared_bytes.h"

namespace telemetry::worker::tune {

// The measuring process' work: a device with one problem in its memory, and configs that are checked and timed on it,
// one after the other. One thread.
class MeasureSession {
 public:
  struct Reports {
    // Told before each step that may crash or hang: "load", "launch", "run", "check".
    std::function<void(std::string_view phase)> phase;
    // Told in a phase, before values are looked at.
    std::function<void(std::string_view phase)> looks_at_values;
    // Told of a final, while it runs: the rounds done so far.
    std::function<void(int rounds)> rounds;
    // What a person is to see of them.
    debug::DebugPrint print;
  };

  // Errors are the device's.
  static absl::StatusOr<std::unique_ptr<MeasureSession>> Open(wire::Setup setup, SharedBytes data, Reports reports);

  // One outcome. What is wrong with the config is in it.
  wire::Outcomes Measure(const wire::Config& config);

  // One outcome for each, of samples that were taken in turns, on the last data set. None where the device failed in
  // between: nobody knows by whose fault.
  wire::Outcomes MeasureFinal(const wire::Final& final);

 private:
  MeasureSession(std::shared_ptr<Device> device, std::unique_ptr<ProblemMemory> memory,
                 std::unique_ptr<Sampler> sampler, std::unique_ptr<LaunchDebugger> debugger, Reports reports)
      : device_(std::move(device)),
        memory_(std::move(memory)),
        sampler_(std::move(sampler)),
        debugger_(std::move(debugger)),
        reports_(std::move(reports)) {}

  // Loads, runs once and checks. Null: it failed, which is in the outcome.
  std::unique_ptr<LoadedConfig> LoadChecked(const wire::Config& config, int data_set, wire::Outcome* outcome);
  absl::Status RunOnce(LoadedConfig& loaded, const wire::Config& config, int data_set, wire::Outcome* outcome);
  absl::Status LaunchAndWait(LoadedConfig& loaded, wire::Outcome* outcome);
  // Sets the outcome's failure where the check finds one.
  absl::Status Check(bool with_results, wire::Outcome* outcome);
  absl::Status TakeSeries(LoadedConfig& config, const wire::Effort& effort, wire::Outcome* outcome);
  absl::StatusOr<std::vector<Sample>> Take(absl::Span<const Sampler::Launch> launches);
  absl::Status TakeRounds(const std::vector<std::unique_ptr<LoadedConfig>>& configs, const wire::Final& final,
                          wire::Outcomes* outcomes);
  void Fail(std::string_view phase, const absl::Status& status, wire::Outcome* outcome);
  bool DeviceIsLost() { return lost_ || !device_->Synchronize().ok(); }

  const std::shared_ptr<Device> device_;
  const std::unique_ptr<ProblemMemory> memory_;
  const std::unique_ptr<Sampler> sampler_;
  const std::unique_ptr<LaunchDebugger> debugger_;  // null: values are not looked at
  const Reports reports_;
  ClockWatch watch_;
  bool lost_ = false;  // what is in the device's memory is not known any more
};

}  // namespace telemetry::worker::tune
