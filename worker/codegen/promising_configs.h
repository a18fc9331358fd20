#pragma once

#include <vector>

#include "worker/codegen/config.h"
#include "worker/codegen/config_space.h"

namespace telemetry::worker::codegen {

// Returns configs that a search should try first, the most promising first: for a plain product on a target with a
// producer warp, and for attention on one with wgmma, the tiles that were the fastest on an NVIDIA H200
// (tests/bench/bench_tune/README.md). Random configs seldom have all of these values, and each alone is no improvement.
// Empty for other spaces.
std::vector<Config> PromisingConfigs(const ConfigSpace& space);

}  // namespace telemetry::worker::codegen
