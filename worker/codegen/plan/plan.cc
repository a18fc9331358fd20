#include "worker/codegen/plan/plan.h"

#include <algorithm>
#include <cstdlib>

#include "proto/base/status_macros.h"
#include "proto/record/strings.h"
#include "worker/codegen/cluster.h"
#include "worker/codegen/kernel_facts.h"

namespace telemetry::worker::codegen::plan {
namespace {

using record::Cat;
using record::Json;

int64_t ToInteger(const Json& value) { return std::atoll(value.text.c_str()); }

// Returns an item of a key's list, or nullptr if the config does not have it.
const Json* Item(const Config& config, std::string_view key, size_t index) {
  const Json* list = config.json().Find(key);
  return list != nullptr && index < list->items.size() ? &list->items[index] : nullptr;
}

int64_t Number(const Config& config, std::string_view key, int64_t otherwise) {
  const Json* value = config.json().Find(key);
  return value == nullptr ? otherwise : ToInteger(*value);
}

bool IsSet(const Config& config, std::string_view key) {
  const Json* value = config.json().Find(key);
  return value != nullptr && value->kind == Json::Kind::kTrue;
}

// Clears Plan::looped for axes that the emitted graphs do not walk in chunks. If no rolled graph walks both of two
// axes, the second axis is held at once whatever the config contains.
void HoldWhatIsNotWalked(const ir::DeviceIr& ir, Plan* plan) {
  for (size_t id = ir.axes.size(); id-- > 0;) {
    const int axis = ir.axes[id].id;
    if (!plan->looped[id] || !UsesOutsideLoops(ir, AlternatesFor(ir, plan->looped), ir.root, axis)) continue;
    plan->looped[id] = false;
    plan->blocks[id] = PowerOfTwo(ir.axes[id].extent.value);
  }
}

absl::Status ReadThreads(const Config& config, const Target& target, Plan* plan) {
  const int64_t warps = Number(config, "num_warps", 4);
  plan->threads = 32 * warps;
  if (plan->threads > target.max_threads_per_block) {
    return absl::ResourceExhaustedError(Cat("num_warps=", warps, " makes ", plan->threads,
                                            " threads in a block; the device allows ", target.max_threads_per_block));
  }
  plan->cluster_blocks = Number(config, "num_ctas", 1);
  if (plan->cluster_blocks == 1 || HasClusters(target)) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      Cat("num_ctas=", plan->cluster_blocks, " makes clusters of blocks, which need ", ClusterRequirement(), "; for ",
          target.dialect == device::Dialect::kCuda ? Cat("sm_", target.sm) : "OpenCL", " choose num_ctas=1"));
}

void ReadBlocks(const ir::DeviceIr& ir, const Config& config, Plan* plan) {
  plan->blocks.assign(ir.axes.size(), 1);
  plan->looped.assign(ir.axes.size(), false);
  plan->unroll.assign(ir.axes.size(), 0);
  size_t block = 0;
  size_t loop = 0;
  for (const ir::Axis& axis : ir.axes) {
    const auto id = static_cast<size_t>(axis.id);
    if (axis.kind == ir::AxisKind::kReduction) {
      plan->blocks[id] = PowerOfTwo(axis.extent.value);
      continue;
    }
    plan->blocks[id] = axis.fixed_block;
    if (axis.fixed_block == 0) plan->blocks[id] = ToInteger(*Item(config, "block_sizes", block++));
    if (axis.kind != ir::AxisKind::kLoop) continue;
    if (const Json* unroll = Item(config, "range_unroll_factors", loop++)) plan->unroll[id] = ToInteger(*unroll);
  }
  const std::vector<int> reductions = ChoosableAxes(ir, true);
  for (size_t i = 0; i < reductions.size(); ++i) {
    const Json* chunk = Item(config, "reduction_loops", i);
    if (chunk == nullptr || chunk->is_null()) continue;
    plan->looped[static_cast<size_t>(reductions[i])] = true;
    plan->blocks[static_cast<size_t>(reductions[i])] = ToInteger(*chunk);
  }
  HoldWhatIsNotWalked(ir, plan);
  for (const int64_t size : plan->blocks) plan->spans.push_back(PowerOfTwo(size));
}

// Sets Plan::reaches. In kernels with dots they are the spans, because operands of dots fill shared memory for all
// positions of a span.
void SetReaches(const ir::DeviceIr& ir, Plan* plan) {
  plan->reaches = plan->spans;
  if (HasDot(ir)) return;
  for (const ir::Axis& axis : ir.axes) {
    const auto id = static_cast<size_t>(axis.id);
    plan->reaches[id] = plan->blocks[id];
    if (!axis.extent.is_static) continue;
    plan->reaches[id] = std::clamp<int64_t>(axis.extent.value, 1, plan->blocks[id]);
  }
}

void ReadGrid(const ir::DeviceIr& ir, const Config& config, Plan* plan) {
  std::vector<int> axes;
  for (const ir::Axis& axis : ir.axes) {
    if (axis.kind == ir::AxisKind::kGrid) axes.push_back(axis.id);
  }
  plan->grid = axes;
  if (const Json* order = Item(config, "loop_orders", 0)) {
    for (size_t i = 0; i < axes.size(); ++i) {
      plan->grid[i] = axes[static_cast<size_t>(ToInteger(order->items[i]))];
    }
  }
  if (const Json* grouping = Item(config, "l2_groupings", 0)) plan->l2_grouping = ToInteger(*grouping);
  const Json* pid_type = config.json().Find("pid_type");
  if (pid_type == nullptr || pid_type->text == "flat") return;
  plan->pid_type =
      pid_type->text == "persistent_blocked" ? PidType::kPersistentBlocked : PidType::kPersistentInterleaved;
}

void ReadAccesses(const ir::DeviceIr& ir, const Config& config, Plan* plan) {
  plan->accesses = ListAccesses(ir);
  size_t load = 0;
  size_t store = 0;
  for (size_t i = 0; i < plan->accesses.size(); ++i) {
    AccessPlan access;
    if (const Json* width = Item(config, "vector_widths", i)) access.vector_width = ToInteger(*width);
    const Json* eviction = plan->accesses[i].is_store ? Item(config, "store_eviction_policies", store++)
                                                      : Item(config, "load_eviction_policies", load++);
    if (eviction != nullptr && eviction->text == "first") access.eviction = text::Eviction::kFirst;
    if (eviction != nullptr && eviction->text == "last") access.eviction = text::Eviction::kLast;
    plan->access_plans.push_back(access);
  }
}

}  // namespace

absl::StatusOr<Plan> MakePlan(const ir::DeviceIr& ir, const Config& config, const Target& target,
                              const GenerateOptions& options) {
  Plan plan = {.ir = &ir, .target = target, .options = options};
  RETURN_IF_ERROR(ReadThreads(config, target, &plan));
  plan.stages = Number(config, "num_stages", 1);
  plan.overlap_dots = IsSet(config, "overlap_dots");
  plan.producer_warp = IsSet(config, "producer_warp");
  ReadBlocks(ir, config, &plan);
  SetReaches(ir, &plan);
  ReadGrid(ir, config, &plan);
  ReadAccesses(ir, config, &plan);
  plan.alternate = AlternatesFor(ir, plan.looped);
  for (const ir::Axis& axis : ir.axes) {
    if (axis.kind != ir::AxisKind::kReduction || axis.extent.is_static || plan.looped[static_cast<size_t>(axis.id)]) {
      continue;
    }
    return absl::UnimplementedError(Cat("the reduction axis ", axis.symbol(),
                                        " has a size that is only known at launch, ", axis.extent.text,
                                        ": it can only be walked in chunks; set reduction_loops to a chunk size"));
  }
  return plan;
}

}  // namespace telemetry::worker::codegen::plan
