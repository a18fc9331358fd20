#pragma once

#include <cstdint>

#include "worker/device/device.h"

namespace telemetry::worker::tune {

// Returns the time in ms that a device takes at least to load this many bytes (GeneratedKernel::loaded_bytes), from
// whatever cache, at its clock. 0: not known, as for OpenCL. A multiprocessor of a CUDA device loads at most 128 bytes
// in a cycle, the width of its L1 cache and shared memory.
double LeastMs(int64_t loaded_bytes, const device::DeviceProperties& device);

}  // namespace telemetry::worker::tune
