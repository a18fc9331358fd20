#pragma once

#include "worker/codegen/plan/mma_plan.h"
#include "worker/codegen/plan/plan.h"
#include "worker/codegen/plan/uses.h"

namespace telemetry::worker::codegen::plan {

// Reports whether every user of this conversion from float to f16 or bf16 rounds to that dtype itself, so that the
// conversion can be left out. Such users are stores and dots on tensor cores, also behind a mask.
bool UsersRound(const Plan& plan, const MmaPlan& mma, const GraphUses& uses, const ir::Graph& graph, int conversion);

}  // namespace telemetry::worker::codegen::plan
