#pragma once

#include <cstdint>

#include "worker/codegen/config.h"

namespace telemetry::worker::codegen {

// Some config of the space, small enough a tile that a CPU gets through it; the seed decides which.
Config RandomConfig(const ConfigSpace& space, uint64_t seed);

}  // namespace telemetry::worker::codegen
