#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/codegen/text/dialect.h"

namespace telemetry::worker::codegen::text {

// The helper functions of kernels with a producer warp: barriers in shared memory (mbarrier), and copies of tiles by
// the tensor memory accelerator (TMA). CUDA only, sm_90 and later.

// void init_barrier(u64* barrier, int arrivals): prepares a barrier whose phase ends after this many arrivals.
// void share_barriers(): makes the prepared barriers visible to TMA and, after a barrier of the block, to all threads.
// void arrive_at(u64* barrier)
// void expect_bytes(u64* barrier, int bytes): arrives; the phase also waits for this many bytes from TMA.
// void wait_for_phase(u64* barrier, u32 phase): blocks until the phase of this parity has ended. At first, the phase of
//   parity 1 counts as ended.
// bool is_elected(): true in one thread of the warp. All threads of the warp must call it.
void AddBarrierFunctions(DialectText* dialect);

// A tensor of 16-bit elements and the box of it that one copy moves, innermost dimension first.
struct TensorMap {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;  // in bytes, without that of the innermost dimension
  std::vector<int64_t> box;
  int64_t row_bytes = 128;  // of the box: 128, 64 or 32, the width of the swizzle
};

// void(u8* draft, const void* tensor): writes the descriptor of the tensor for TMA to `draft`, 128 bytes of shared
// memory. All threads of the warp must call it.
std::string DescribeFunction(DialectText* dialect, const std::string& name, const TensorMap& map);

// void(void* to, const TensorMap* map, u64* barrier, int x0, int x1, ...): starts the copy of the box at these
// positions to shared memory. Its bytes count for the current phase of the barrier. Elements beyond the ends are 0.
std::string CopyBoxFunction(DialectText* dialect, size_t rank);

// TMA reads descriptors from global memory. These functions reserve `count` of them for a block.
// int claim_tensor_maps(): returns an index of `tensor_maps`, which the block owns until release_tensor_maps(int).
// void publish_tensor_map(const u8* draft, TensorMap* map): copies a descriptor to global memory.
// void begin_to_use(const TensorMap* map): makes the published descriptor visible to copies that this warp starts.
// All threads of the warp must call the last two.
void AddTensorMaps(DialectText* dialect, size_t count);

}  // namespace telemetry::worker::codegen::text
