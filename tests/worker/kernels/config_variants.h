#pragma once

#include <cstddef>
#include <vector>

#include "proto/record/json.h"
#include "worker/codegen/config.h"

namespace telemetry::worker::kernels {

// Configs that between them have each value of each parameter of a space.

// What a parameter can be: every choice, power of two and permutation; of a range of integers the ends and what is near
// them.
std::vector<record::Json> ValuesOf(const codegen::ConfigParameter& parameter);

// The default with one parameter changed, for every parameter and value. Where that breaks a constraint the other block
// sizes are made small; what even then is refused is left out.
std::vector<codegen::Config> OneAtATime(const codegen::ConfigSpace& space);

// The same values in as few configs as have them all: each changes every parameter. What a constraint refuses is
// replaced by OneAtATime's configs of its values.
std::vector<codegen::Config> AllAtOnce(const codegen::ConfigSpace& space);

}  // namespace telemetry::worker::kernels
