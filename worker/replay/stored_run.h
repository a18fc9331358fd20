#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "worker/codegen/config.h"

namespace telemetry::worker::replay {

// A config of a run with the result that the dataset holds for it.
struct StoredConfig {
  codegen::Config config;
  // Time of the kernel in milliseconds, positive and finite. Unset: the config failed.
  std::optional<double> perf_ms;
  // Seconds that compiling and measuring the config took; positive and finite.
  double cost_s = 0;
};

// The stored results of a run: the search space of a replay.
struct StoredRun {
  std::string run_id;
  std::string kernel_name;
  std::string input_shapes;
  std::string dtypes;
  std::string hardware;
  std::vector<StoredConfig>
      configs;               // distinct; the first one is the default, the others are in the order of their ids
  size_t left_out = 0;       // configs without a result: excluded, duplicated or interrupted ones, and unreadable texts
  size_t assumed_costs = 0;  // configs whose cost is not known; they have the median cost of the others
};

// Returns kernel, shapes, dtypes and device, separated by spaces.
std::string NameOf(const StoredRun& run);

}  // namespace telemetry::worker::replay
