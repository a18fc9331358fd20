#pragma once

#include <cstdint>
#include <string>

#include "worker/codegen/generate.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::codegen {

// Clusters: num_ctas blocks work on one tile (CUDA, sm_90 and later). The threads of all of them count as those of one
// large block, so that a block's rank is the upper bits of the thread's index in a layout; only what a reduction adds
// up across blocks tells them apart. Pure functions; what they return is CUDA C++.

// Of a cluster: as many as every device that has clusters can run.
inline constexpr int64_t kMostClusterBlocks = 8;

// A kernel that reduces, without dots, whose tiles read nothing that they write.
bool SuitsClusters(const ir::DeviceIr& ir);

bool HasClusters(const Target& target);

// "CUDA and sm_90 or later".
std::string ClusterRequirement();

class DialectText;

// Between a block's `cluster_arrive` and the `cluster_wait` after it, every other block of the cluster has arrived as
// often; what was written to shared memory before is visible after. All threads of the cluster have to call them.
// Reads 32 bits that lie in another block's shared memory where `own` lies in this one's: u32(own, rank).
void AddClusterFunctions(DialectText* dialect);

}  // namespace telemetry::worker::codegen
