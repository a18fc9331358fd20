#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "worker/codegen/layout.h"
#include "worker/codegen/plan.h"
#include "worker/codegen/uses.h"

namespace telemetry::worker::codegen {

// The layout sets of a kernel: 0 is the main one, then one per Uses::stagings.
// RESOURCE_EXHAUSTED: a tile has more elements than a block of these threads can hold (says how many).
absl::StatusOr<std::vector<LayoutSet>> ChooseLayouts(const Plan& plan, const Uses& uses);

}  // namespace telemetry::worker::codegen
