#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "worker/debug/debug_options.h"
#include "worker/device/device.h"
#include "worker/tune/measure/clock_watch.h"
#include "worker/tune/measure/launch_debugger.h"
#include "worker/tune/measure/loaded_config.h"
#include "worker/tune/measure/measure.pb.h"
#include "worker/tune/measure/problem_memory.h"
#include "worker/tune/measure/sampler.h"
#include "worker/tune/process/shared_bytes.h"
#include "worker/tune/process/step_report.h"

namespace telemetry::worker::tune::measure {

// A device with the code of the checks and of the samples, which does not depend on a problem.
struct OpenedDevice {
  std::shared_ptr<device::Device> device;
  std::unique_ptr<DeviceChecks> checks;
  std::unique_ptr<Sampler> sampler;

  // Returns the device's errors.
  static absl::StatusOr<OpenedDevice> Open(const std::string& id, const process::StepReport& on_step);
};

// The work of a measuring process: checks and times configs, one after the other, on a device with one problem in its
// memory. Single-threaded.
class MeasureSession {
 public:
  // The functions that a session calls to report its progress.
  struct Reports {
    // Called before each step that may crash or hang: "load", "launch", "run", "check".
    std::function<void(std::string_view phase)> phase;
    // Called instead of that before the code of the next config is loaded.
    std::function<void()> loads_next;
    // Called within a phase before values are printed or saved.
    std::function<void(std::string_view phase)> looks_at_values;
    // Called during a final with the number of rounds done so far.
    std::function<void(int rounds)> rounds;
    // Prints debug output for the user.
    debug::DebugPrint print;
  };

  // Returns the device's errors.
  static absl::StatusOr<std::unique_ptr<MeasureSession>> Open(OpenedDevice opened, wire::Setup setup,
                                                              process::SharedBytes data, Reports reports,
                                                              const process::StepReport& on_step);

  // Returns one outcome. A failure of the config is part of it. `next` may be null; it is the config that the next call
  // will probably get. Its code is loaded while the device runs `config` for the first time, which is not timed:
  // loading may wait for the device, so it must not happen between or within samples.
  wire::Outcomes Measure(const wire::Config& config, const wire::Config* next = nullptr);

  // Runs a config once on the first data set, without samples. Its results are not compared, and stay in the buffers
  // until the next call.
  wire::Outcomes Evaluate(const wire::Config& config);
  // Returns a part of a buffer's contents, or a shorter text after an error.
  std::string Read(const wire::Read& request);
  // Uploads the expected results of the data. Returns the device's errors.
  absl::Status TakeExpected() { return memory_->TakeExpected(); }

  // Takes samples of all configs in turns, on the last data set, and returns one outcome per config. Returns no
  // outcomes if the device failed meanwhile, because the config that caused it is not known.
  wire::Outcomes MeasureFinal(const wire::Final& request);

 private:
  MeasureSession(std::shared_ptr<device::Device> device, std::unique_ptr<ProblemMemory> memory,
                 std::unique_ptr<Sampler> sampler, std::unique_ptr<LaunchDebugger> debugger, Reports reports)
      : device_(std::move(device)),
        memory_(std::move(memory)),
        sampler_(std::move(sampler)),
        debugger_(std::move(debugger)),
        reports_(std::move(reports)) {}

  // Loads, runs once and checks a config, with its results or only for damage. Returns null if it failed; the failure
  // is in `outcome`.
  std::unique_ptr<LoadedConfig> LoadChecked(const wire::Config& config, int data_set, bool with_results,
                                            wire::Outcome* outcome, const wire::Config* next = nullptr);
  absl::Status RunOnce(LoadedConfig& loaded, const wire::Config& config, int data_set, wire::Outcome* outcome,
                       const wire::Config* next);
  absl::Status LaunchAndWait(LoadedConfig& loaded, wire::Outcome* outcome, const wire::Config* next);
  // Returns the config, which may have been loaded before.
  absl::StatusOr<std::unique_ptr<LoadedConfig>> Load(const wire::Config& config);
  // Loads a config for the next call of Load. An error is ignored, since Load will return it again. Returns the time
  // that it took.
  absl::Duration LoadNext(const wire::Config& next);
  // Sets the outcome's failure if the check finds an error.
  absl::Status Check(bool with_results, wire::Outcome* outcome);
  // Reports whether the time of the first run can stand for that of others: OpenCL compiles in it.
  bool FirstRunCounts(const wire::Effort& effort) const;
  // Returns true if the run that was checked was so slow that samples are not worth their time. Describes it then.
  bool WasSlow(const wire::Effort& effort, wire::Outcome* outcome) const;
  absl::Status TakeSeries(LoadedConfig& config, const wire::Effort& effort, wire::Outcome* outcome);
  absl::StatusOr<std::vector<Sample>> Take(absl::Span<const Sampler::Launch> launches, Sampler::Caches caches);
  absl::Status TakeRounds(const std::vector<std::unique_ptr<LoadedConfig>>& configs, const wire::Final& request,
                          wire::Outcomes* outcomes);
  void Fail(std::string_view phase, const absl::Status& status, wire::Outcome* outcome);
  bool DeviceIsLost() { return lost_ || !device_->Synchronize().ok(); }

  const std::shared_ptr<device::Device> device_;
  const std::unique_ptr<ProblemMemory> memory_;
  const std::unique_ptr<Sampler> sampler_;
  const std::unique_ptr<LaunchDebugger> debugger_;  // null: debug output is off
  const Reports reports_;
  std::string next_;                           // describes the code and the launch of loaded_next_
  std::unique_ptr<LoadedConfig> loaded_next_;  // null: none was loaded
  ClockWatch watch_;
  wire::Steps steps_;  // of the config that is being measured
  double run_ms_ = 0;  // the time on the device of the last launch of RunOnce
  bool lost_ = false;  // true: the contents of the device's memory are not known
};

}  // namespace telemetry::worker::tune::measure
