#pragma once

#include <cstdint>
#include <string>

#include "worker/codegen/target.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::codegen {

// Thread block clusters: num_ctas blocks work on one tile (CUDA, sm_90 and later). Layouts treat the threads of all
// blocks as one large block, so the block's rank is the upper bits of the thread's index. Only reductions across blocks
// distinguish the blocks. All functions are pure.

// The most blocks in a cluster: the size that every device with clusters supports.
inline constexpr int64_t kMostClusterBlocks = 8;

// Reports whether the kernel can use clusters: it has a reduction, has no dot, and reads no tensor that it writes.
bool SuitsClusters(const ir::DeviceIr& ir);

bool HasClusters(const Target& target);

// Returns the text "CUDA and sm_90 or later", for messages.
std::string ClusterRequirement();

}  // namespace telemetry::worker::codegen
