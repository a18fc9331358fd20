#pragma once

#include <cstdint>

#include "worker/codegen/plan/plan.h"
#include "worker/codegen/plan/uses.h"

namespace telemetry::worker::codegen::plan {

// Returns a number of bytes that the blocks of a launch load together at least, from whatever cache: a tile of a
// product loads its rows and its columns again. Counts only what no compiler can leave out: equal loads once, loads
// that do not depend on a loop once for all of its iterations, and no loads in branches, in loops of unknown length, or
// with gathered indices. 0 if the kernel has a size that only the launch knows.
int64_t LoadedBytes(const Plan& plan, const Uses& uses);

}  // namespace telemetry::worker::codegen::plan
