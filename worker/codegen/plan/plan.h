#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/codegen/access.h"
#include "worker/codegen/config.h"
#include "worker/codegen/target.h"
#include "worker/codegen/text/dialect.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::codegen::plan {

// The mapping of blocks to tiles: the config's pid_type.
enum class PidType { kFlat, kPersistentBlocked, kPersistentInterleaved };

// The config's settings for one load or store.
struct AccessPlan {
  int64_t vector_width = 1;
  text::Eviction eviction = text::Eviction::kNone;
};

// The choices for one kernel, config and target, made before any code is emitted. Refers to the device IR, which must
// outlive the plan.
struct Plan {
  const ir::DeviceIr* ir = nullptr;
  Target target;
  GenerateOptions options;

  int64_t threads = 32;        // of a block
  int64_t cluster_blocks = 1;  // blocks that work on a tile together
  int64_t stages = 1;          // tiles of a loop's prefetched operands that shared memory holds at a time
  bool producer_warp = false;  // one more warp copies the operands of dots (ProducerPlan)
  bool overlap_dots = false;   // run the second of two dots of a loop during the code between them (DotOverlap)
  PidType pid_type = PidType::kFlat;
  std::vector<int> grid;         // the grid's axes, slowest first
  int64_t l2_grouping = 1;       // applies to the last two axes of `grid`
  std::vector<int64_t> blocks;   // by axis: elements of a tile
  std::vector<int64_t> spans;    // by axis: the block rounded up to a power of two
  std::vector<int64_t> reaches;  // by axis: positions of the span from this one on hold no elements
  std::vector<bool> looped;      // by axis: a reduction that is walked in chunks
  std::vector<int64_t> unroll;   // by axis: unroll factor of the loop; 0: the compiler decides
  std::vector<int> alternate;    // by graph id: the graph to emit in its place, or the id itself
  std::vector<Access> accesses;
  std::vector<AccessPlan> access_plans;  // in the order of `accesses`

  int64_t tile_threads() const { return threads * cluster_blocks; }
  const ir::Graph& GraphFor(int id) const {
    return ir->graphs[static_cast<size_t>(alternate[static_cast<size_t>(id)])];
  }
  const AccessPlan& AccessPlanFor(int graph, int node) const {
    return access_plans[static_cast<size_t>(AccessIndex(*ir, accesses, graph, node))];
  }
};

// Makes the plan for a complete config (ConfigSpace::Normalize). UNIMPLEMENTED: a reduction axis whose size is known
// only at launch is not walked in chunks. RESOURCE_EXHAUSTED: the config needs more threads than the target allows in a
// block, or clusters on a target without them.
absl::StatusOr<Plan> MakePlan(const ir::DeviceIr& ir, const Config& config, const Target& target,
                              const GenerateOptions& options);

}  // namespace telemetry::worker::codegen::plan
