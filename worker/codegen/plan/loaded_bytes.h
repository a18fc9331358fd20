#pragma once

#include <cstdint>

#include "worker/codegen/plan/plan.h"
#include "worker/codegen/plan/uses.h"

namespace telemetry::worker::codegen::plan {

// Returns an estimate from below of the bytes that the blocks of a launch load together, from whatever cache: a tile of
// a product loads its rows and its columns again. What a compiler may leave out counts as little as possible: equal
// loads once, also in loops of the same length; loads that do not depend on a loop once for all of its iterations, also
// those of all tiles of a persistent block; and no loads in branches and calls, in loops of unknown length, or with
// gathered indices. 0 if the kernel has a size that only the launch knows.
int64_t LoadedBytes(const Plan& plan, const Uses& uses);

}  // namespace telemetry::worker::codegen::plan
