#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "telemetry/v1/records.pb.h"

namespace telemetry::bench {

// Returns a pseudorandom number that depends only on `value` (splitmix64).
uint64_t Mix(uint64_t value);
// Returns a pseudorandom number from 0 to below 1 that depends only on `value`.
double Share(uint64_t value);

// A config of a kernel, and its time relative to the fastest possible config.
struct PlannedConfig {
  v1::Config record;
  double factor = 1;
};

// Returns `count` different configs of a kernel: points of a space of 13 knobs, each of which has an influence of its
// own on the time. Every call returns the same configs.
std::vector<PlannedConfig> MakeConfigs(uint64_t kernel, size_t count);

}  // namespace telemetry::bench
