#pragma once

#include <cstddef>
#include <vector>

#include "proto/record/json.h"
#include "worker/codegen/config_space.h"

namespace telemetry::worker::kernels {

// Lists of configs that together contain each value of each parameter of a search space.

// Returns the values of a parameter: every choice, power of two and permutation; for a range of integers the ends,
// values near them and the middle.
std::vector<record::Json> ListValues(const codegen::ConfigParameter& parameter);

// Returns the default config, and for every parameter and value a config with only that parameter changed. If a config
// violates a constraint, all other block sizes are set to their minimum; a config that is still rejected is left out.
std::vector<codegen::Config> OneAtATime(const codegen::ConfigSpace& space);

// Returns the same values in as few configs as possible: each config changes every parameter. A config that violates a
// constraint is replaced by one config for each of its values, as in OneAtATime().
std::vector<codegen::Config> AllAtOnce(const codegen::ConfigSpace& space);

}  // namespace telemetry::worker::kernels
