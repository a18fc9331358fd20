#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "worker/device/device.h"

namespace telemetry::worker::tune::measure {

// A buffer argument of a launch in a form that can be sent to another process: the buffer's index in the problem.
struct BufferIndex {
  int index = 0;
  friend bool operator==(const BufferIndex&, const BufferIndex&) = default;
};
using RequestArgument = std::variant<BufferIndex, int32_t, int64_t, float, device::ScalarBytes>;

// A variable of the code, and the buffer whose initial contents it gets, as far as both have bytes.
struct SymbolContents {
  std::string name;
  int buffer = 0;
};

// The name of a launch's argument for people. Buffers get their names from the problem.
struct ArgumentLabel {
  std::string name;
  bool is_flag = false;  // the values 0 and 1 mean false and true
  bool is_size = false;  // a size or stride that is not a constant in the code
};

// The time limit of a config and the precision that the measurement aims for.
struct MeasureEffort {
  // Sampling ends once the config is slower than this: in three samples, in its first run and one sample, or in one
  // that is twice as slow. The tuner passes a multiple of the best time so far (3 times is plenty).
  double give_up_above_ms = std::numeric_limits<double>::infinity();
  // A config that is slower than this, at the best clock, is far from the best. It gets only the samples that show
  // this, at least three, so that the error of its time may be 3%. The tuner passes the best time so far and a tenth
  // more.
  double far_above_ms = std::numeric_limits<double>::infinity();
  int min_samples = 8;
  int max_samples = 200;
  // Sampling ends when the standard error of the median, relative to the median, is at most this: enough to choose
  // those that are measured again in the final, where smaller differences do not count either (TiedWithBest). The error
  // may be larger by this value after each 4 ms of sampling.
  double precision = 0.005;
  // Sampling ends when this time is used up, too, but not before three samples are taken.
  absl::Duration budget = absl::Milliseconds(20);
  // True: exactly max_samples samples of each config, however slow it is, as other tuners take them. Only a clock that
  // stays low ends them early.
  bool exact = false;
  // True: no cache is flushed before a sample, so that a sample finds in the caches what the one before it left there.
  bool warm = false;
};

// One config: its code and the launch parameters.
struct MeasureRequest {
  std::shared_ptr<const device::CompiledCode> code;  // shared, because configs of equal source have equal code
  std::string function;
  std::vector<RequestArgument> arguments;
  device::LaunchShape shape;
  // The variables of the code that get the initial contents of buffers when it is loaded: constant memory of CUDA.
  std::vector<SymbolContents> symbols;
  // Used for debug output of values: the names of the kernel, of the config and of the arguments (none or all).
  std::string kernel;
  std::string label;
  std::vector<ArgumentLabel> argument_labels;
  MeasureEffort effort;
  // The measuring process is killed if loading, or one run, exceeds its limit.
  absl::Duration load_limit = absl::Seconds(60);  // OpenCL compiles while loading
  absl::Duration run_limit = absl::Seconds(10);
};

// The limits of a final.
struct FinalEffort {
  int rounds = 60;
  // The time limit. The final ends early when it is exceeded, but not before kLeastRounds rounds.
  absl::Duration limit = absl::InfiniteDuration();
  std::function<void(int rounds)> on_rounds = nullptr;  // called with the rounds done so far

  static constexpr int kLeastRounds = 8;
};

}  // namespace telemetry::worker::tune::measure
