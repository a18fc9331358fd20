#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/codegen/config_parameter.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::codegen {

// The upper limit of the product of the block sizes of all grid axes, in elements.
inline constexpr int64_t kMostTileElements = int64_t{1} << 20;

// Returns the text of this limit, for messages.
std::string BlockConstraint();

// Returns the parameters of the search space of a kernel, with ranges and defaults derived from its IR.
std::vector<ConfigParameter> ParametersFor(const ir::DeviceIr& ir);

}  // namespace telemetry::worker::codegen
