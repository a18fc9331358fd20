#pragma once

#include <map>
#include <optional>
#include <vector>

#include "worker/codegen/plan/copy_plan.h"
#include "worker/codegen/plan/layout.h"
#include "worker/codegen/plan/mma_plan.h"
#include "worker/codegen/plan/plan.h"
#include "worker/codegen/plan/uses.h"

namespace telemetry::worker::codegen::plan {

// The two dots of a loop that run at the same time as the code between them, as in attention: the rows of the second
// dot are computed from the sums of the first. The tensor cores multiply for the second dot of one tile while the
// threads compute on the sums of the first dot of the next tile.
struct DotOverlap {
  int first = -1;        // node index
  int second = -1;       // node index; its result is a value that the loop carries, and its accumulator
  int carried = -1;      // index of that value among the carried values
  int placeholder = -1;  // node index of the placeholder that has the value of the previous iteration
};

// Returns the overlaps by id of the loop's body. Overlapping dots use wgmma, and their loop has prefetches (CopyAhead)
// and no other dots, loops, branches or stores.
std::map<int, DotOverlap> PlanOverlaps(const Plan& plan, const Uses& uses, const MmaPlan& mma,
                                       const std::vector<std::optional<SharedCopy>>& copies, const LayoutSet& main);

}  // namespace telemetry::worker::codegen::plan
