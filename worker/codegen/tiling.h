#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/codegen/layout.h"
#include "worker/codegen/mma_plan.h"
#include "worker/codegen/plan.h"
#include "worker/codegen/shared_copy.h"
#include "worker/codegen/uses.h"

namespace telemetry::worker::codegen {

// How a kernel's tiles lie in its threads.
struct Layouts {
  std::vector<LayoutSet> sets;  // 0 is the main one, then one per Uses::stagings
  MmaPlan mma;
  std::vector<std::optional<SharedCopy>> copies;  // by set
};

// RESOURCE_EXHAUSTED: a tile has more elements than a block of these threads can hold (says how many).
absl::StatusOr<Layouts> ChooseLayouts(const Plan& plan, const Uses& uses);

}  // namespace telemetry::worker::codegen
