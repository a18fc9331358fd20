#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "worker/codegen/target.h"
#include "worker/ir/graph.h"

namespace telemetry::worker::codegen {

// A tensor that TMA can copy tiles of: the dimensions that the load indexes by axes, from the contiguous one on in the
// order of their strides.
struct TmaSource {
  struct Dimension {
    int axis = -1;
    int64_t size = 0;    // the extent of the axis; elements beyond it are copied as 0
    int64_t stride = 1;  // in elements
  };
  int tensor = -1;
  int64_t first = 0;  // the element at position 0 of all axes
  std::vector<Dimension> dimensions;
};

// The loop of a plain matrix product: an iteration loads two tiles and adds their dot to sums that the loop carries. A
// producer warp can make the loads of such a loop for the other warps (emit::ProducerWarp).
struct ProductLoop {
  int loop = -1;                     // index of the loop's node in the root graph
  int axis = -1;                     // the axis that the loop walks
  int body = -1;                     // id of the graph of an iteration
  int dot = -1;                      // index of the dot's node in the body
  std::array<TmaSource, 2> sources;  // of the operands of the dot
};

// Returns the loop of a kernel that has no other loop, branch or call. The operands are f16 or bf16, their sizes and
// strides are known, and TMA can copy them: they are contiguous along an axis, and their other strides are multiples of
// 16 bytes. The kernel stores to outputs only.
std::optional<ProductLoop> FindProductLoop(const ir::DeviceIr& ir);

// Reports whether the target has a producer warp: it copies for wgmma, which only sm_90 has.
bool HasProducerWarp(const Target& target);

}  // namespace telemetry::worker::codegen
