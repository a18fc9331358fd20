#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "worker/device/device.h"

namespace telemetry::worker::tune {

// A launch as it can be sent to another process: buffers are the problem's, by number.
struct BufferIndex {
  int index = 0;
  friend bool operator==(const BufferIndex&, const BufferIndex&) = default;
};
using RequestArgument = std::variant<BufferIndex, int32_t, int64_t, float>;

// What people call an argument of a launch. Buffers have their name from the problem.
struct ArgumentLabel {
  std::string name;
  bool is_flag = false;  // 0 and 1 are false and true
  bool is_size = false;  // a size or stride that is not fixed in the code
};

// How long a config may take, and how precise the result is to be.
struct MeasureEffort {
  // Not sampled further once it is clear that the config is slower than this: the tuner gives a multiple of the best
  // so far (3 times is plenty).
  double give_up_above_ms = std::numeric_limits<double>::infinity();
  int min_samples = 8;
  int max_samples = 200;
  // Sampling ends when the median is known this well (standard error over median)...
  double precision = 0.002;
  // ...or when this time is used up. At least three samples are taken.
  absl::Duration budget = absl::Milliseconds(20);
};

// One config: its code and how to launch it.
struct MeasureRequest {
  std::shared_ptr<const CompiledCode> code;  // shared: configs of equal source have equal code
  std::string function;
  std::vector<RequestArgument> arguments;
  LaunchShape shape;
  // For people, where values are looked at: the kernel's name, the config's, and the arguments', none or all.
  std::string kernel;
  std::string label;
  std::vector<ArgumentLabel> argument_labels;
  MeasureEffort effort;
  // The process that measures is killed when it has taken longer for loading, or for one run.
  absl::Duration load_limit = absl::Seconds(60);  // OpenCL compiles while it loads
  absl::Duration run_limit = absl::Seconds(10);
};

}  // namespace telemetry::worker::tune
