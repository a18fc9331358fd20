#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/codegen/config.h"

namespace telemetry::worker::codegen {

// The most elements that the grid's blocks may make together.
inline constexpr int64_t kMostTileElements = int64_t{1} << 20;

// Says so, for people.
std::string BlockConstraint();

// The parameters of a kernel's space with their ranges and defaults, from its IR.
std::vector<ConfigParameter> ParametersFor(const ir::DeviceIr& ir);

}  // namespace telemetry::worker::codegen
