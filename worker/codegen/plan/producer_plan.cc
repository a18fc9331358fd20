#include "worker/codegen/plan/producer_plan.h"

#include <algorithm>

namespace telemetry::worker::codegen::plan {
namespace {

constexpr int64_t kMostRows = 256;  // of one copy with TMA

bool IsEmitted(const Plan& plan, int graph) { return plan.alternate[static_cast<size_t>(graph)] == graph; }

// Reports whether TMA can copy the tiles of this operand into the layout that wgmma reads.
bool SuitsTma(const Plan& plan, const SharedCopy& copy, const TmaSource& source, const LayoutSet& set) {
  // In shared memory the tile is contiguous along the later of the two axes, as in MmaOperand.
  const auto at = [&set](int axis) { return std::find(set.order.begin(), set.order.end(), axis); };
  const int inside = at(copy.summed) > at(copy.own) ? copy.summed : copy.own;
  if (source.dimensions[0].axis != inside) return false;
  int tile_axes = 0;
  for (const TmaSource::Dimension& dimension : source.dimensions) {
    const auto id = static_cast<size_t>(dimension.axis);
    if (plan.blocks[id] != plan.spans[id]) return false;
    if (dimension.axis == copy.own || dimension.axis == copy.summed) {
      ++tile_axes;
      if (dimension.axis != inside && plan.blocks[id] > kMostRows) return false;
    } else if (plan.blocks[id] != 1) {
      return false;
    }
  }
  return tile_axes == 2;
}

}  // namespace

std::optional<ProducerPlan> PlanProducer(const Plan& plan, const Uses& uses, const MmaPlan& mma,
                                         const std::vector<std::optional<SharedCopy>>& copies,
                                         const std::vector<LayoutSet>& sets) {
  if (!plan.producer_warp || !HasProducerWarp(plan.target) || !mma.by_warpgroups) return std::nullopt;
  if (plan.stages == 1 || plan.threads + kProducerThreads > plan.target.max_threads_per_block) return std::nullopt;
  const std::optional<ProductLoop> loop = FindProductLoop(*plan.ir);
  if (!loop || !IsEmitted(plan, plan.ir->root) || !IsEmitted(plan, loop->body)) return std::nullopt;
  ProducerPlan producer = {.loop = *loop};
  const auto found = uses.graphs.find(loop->body);
  if (found == uses.graphs.end() || !found->second.operands.contains(loop->dot)) return std::nullopt;
  const std::array<int, 2>& operands = found->second.operands.at(loop->dot);
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto set = static_cast<size_t>(operands[i]);
    const std::optional<SharedCopy>& copy = copies[set];
    if (!copy || !copy->may_run_ahead || !SuitsTma(plan, *copy, loop->sources[i], sets[set])) return std::nullopt;
    producer.sets.push_back(operands[i]);
  }
  return producer;
}

}  // namespace telemetry::worker::codegen::plan
