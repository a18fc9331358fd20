#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "worker/codegen/plan/copy_plan.h"
#include "worker/codegen/plan/layout.h"
#include "worker/codegen/plan/mma_plan.h"
#include "worker/codegen/plan/plan.h"
#include "worker/codegen/plan/uses.h"
#include "worker/codegen/product_loop.h"

namespace telemetry::worker::codegen::plan {

// The producer warp of a kernel: one more warp than the config has. It copies the operands of the dots with TMA into a
// ring of Plan::stages tiles, for all tiles of the block, while the other warps multiply.
struct ProducerPlan {
  ProductLoop loop;
  std::vector<int> sets;  // the layout sets of the operands, in the order of ProductLoop::sources
};

// The threads of a producer warp.
inline constexpr int64_t kProducerThreads = 32;

// Returns the plan if the config asks for a producer warp and the kernel and the config suit one: the dot uses wgmma,
// its operands are prefetched (num_stages above 1), no block is longer than a copy with TMA, and the block has room for
// one more warp.
std::optional<ProducerPlan> PlanProducer(const Plan& plan, const Uses& uses, const MmaPlan& mma,
                                         const std::vector<std::optional<SharedCopy>>& copies,
                                         const std::vector<LayoutSet>& sets);

}  // namespace telemetry::worker::codegen::plan
