#pragma once

#include "worker/codegen/mma_plan.h"
#include "worker/codegen/plan.h"
#include "worker/codegen/uses.h"

namespace telemetry::worker::codegen {

// Whether everything that uses this conversion of a float to f16 or bf16 rounds to that dtype itself: stores and dots
// on tensor cores, also of what is masked before. Then the conversion is nothing to do.
bool UsersRound(const Plan& plan, const MmaPlan& mma, const GraphUses& uses, const ir::Graph& graph, int conversion);

}  // namespace telemetry::worker::codegen
