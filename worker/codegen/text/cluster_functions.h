#pragma once

#include "worker/codegen/text/dialect.h"

namespace telemetry::worker::codegen::text {

// Adds the functions for clusters (cluster.h) to the prelude. They are CUDA C++.
// `cluster_arrive` and `cluster_wait`, both void(), are the two halves of a barrier of the cluster: `cluster_wait`
// returns when every block of the cluster has arrived, and writes to shared memory before the arrival are then visible
// to all blocks. All threads of the cluster must call both.
// `cluster_read`, u32(own, rank), reads 32 bits from the shared memory of block `rank`, at the address that `own` has
// in this block.
void AddClusterFunctions(DialectText* dialect);
// Adds `cluster_read_wide`, unsigned long(own, rank), which reads 64 bits with two calls of `cluster_read`.
void AddWideClusterRead(DialectText* dialect);

}  // namespace telemetry::worker::codegen::text
