#pragma once

#include <cstdint>

#include "worker/codegen/config_space.h"

namespace telemetry::worker::codegen {

// Returns a random config of the space for this seed. Its block sizes are at most 32, so that a CPU can run the kernel.
Config RandomConfig(const ConfigSpace& space, uint64_t seed);

}  // namespace telemetry::worker::codegen
