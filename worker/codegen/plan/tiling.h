#pragma once

#include <map>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/codegen/plan/copy_plan.h"
#include "worker/codegen/plan/dot_overlap.h"
#include "worker/codegen/plan/layout.h"
#include "worker/codegen/plan/mma_plan.h"
#include "worker/codegen/plan/plan.h"
#include "worker/codegen/plan/producer_plan.h"
#include "worker/codegen/plan/uses.h"

namespace telemetry::worker::codegen::plan {

// The layouts of a kernel's tiles in its threads.
struct Layouts {
  std::vector<LayoutSet> sets;  // 0 is the main set, followed by one set for each of Uses::stagings
  MmaPlan mma;
  std::vector<std::optional<SharedCopy>> copies;  // by layout set
  std::map<int, DotOverlap> overlaps;             // by id of the loop's body
  std::optional<ProducerPlan> producer;
  bool spills = false;  // GeneratedKernel::spills
};

// Chooses the layouts. RESOURCE_EXHAUSTED: a tile has more elements than the registers of its threads can hold; the
// message contains the number of registers that are needed.
absl::StatusOr<Layouts> ChooseLayouts(const Plan& plan, const Uses& uses);

}  // namespace telemetry::worker::codegen::plan
