#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/codegen/access.h"
#include "worker/codegen/config.h"
#include "worker/codegen/generate.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::codegen {

enum class PidType { kFlat, kPersistentBlocked, kPersistentInterleaved };

// What the config says of one load or store.
struct AccessPlan {
  int64_t vector_width = 1;
  Eviction eviction = Eviction::kNone;
};

// A kernel and a config together: every choice made, nothing of it text yet. Refers to the IR.
struct Plan {
  const ir::DeviceIr* ir = nullptr;
  Target target;
  GenerateOptions options;

  int64_t threads = 32;        // of a block
  int64_t cluster_blocks = 1;  // that work on a tile together
  int64_t stages = 1;          // tiles of a loop's copies that are in shared memory at a time
  PidType pid_type = PidType::kFlat;
  std::vector<int> grid;         // the grid's axes, the first walks slowest
  int64_t l2_grouping = 1;       // of the last two of them
  std::vector<int64_t> blocks;   // by axis: how far a tile reaches
  std::vector<int64_t> spans;    // the blocks as powers of two
  std::vector<int64_t> reaches;  // by axis: nothing is at the span's positions from here on
  std::vector<bool> looped;      // by axis: a reduction in chunks
  std::vector<int64_t> unroll;   // by axis; 0: as the compiler likes
  std::vector<int> alternate;    // by graph: what to emit for it
  std::vector<Access> accesses;
  std::vector<AccessPlan> access_plans;

  int64_t tile_threads() const { return threads * cluster_blocks; }
  const ir::Graph& GraphFor(int id) const {
    return ir->graphs[static_cast<size_t>(alternate[static_cast<size_t>(id)])];
  }
  const AccessPlan& AccessPlanOf(int graph, int node) const {
    return access_plans[static_cast<size_t>(AccessIndexOf(*ir, accesses, graph, node))];
  }
};

// `config` is complete (ConfigSpace::Normalize). UNIMPLEMENTED: a reduction over an axis whose size is not known can
// only be done in chunks. RESOURCE_EXHAUSTED: the target has not as many threads in a block, or no clusters.
absl::StatusOr<Plan> MakePlan(const ir::DeviceIr& ir, const Config& config, const Target& target,
                              const GenerateOptions& options);

// By graph: the graph to emit when the reductions along these axes are done in chunks.
std::vector<int> AlternatesFor(const ir::DeviceIr& ir, const std::vector<bool>& looped);
// All that is computed along a reduction axis can be done in chunks.
bool CanBeLooped(const ir::DeviceIr& ir, int axis);
bool HasDot(const ir::DeviceIr& ir);
// The axes of one kind, without those of a fixed block, in order.
std::vector<int> ChoosableAxes(const ir::DeviceIr& ir, bool reductions);

}  // namespace telemetry::worker::codegen
