#pragma once

#include <cstdint>

#include "worker/codegen/emit/combiner.h"
#include "worker/codegen/emit/tile_code.h"

namespace telemetry::worker::codegen::emit {

// A run of consecutive bits of the thread's index.
struct Bits {
  int64_t lowest = 1;  // the value of the lowest bit of the run, a power of two
  int64_t count = 1;   // the number of values that the bits can have, a power of two

  int64_t mask() const { return lowest * (count - 1); }
};

// The partial result that each thread holds of a reduction. `position` is used for kArgMax only.
struct Partials {
  const Combiner& combiner;
  const TileValue& value;
  const TileValue& position;
};

// Emits the exchange of partial results through shared memory. Each thread writes its partial result, then combines the
// partial results of all threads of its run, in the same order as they do, so that all get bit-identical results. The
// threads of a run belong to one block and differ in the bits `run` of their index. With `across_blocks`, they are the
// threads at the same index in the blocks of a cluster whose ranks differ in the bits `run`. Partial results must
// already be combined inside a warp (on CUDA), and for `across_blocks` also inside the block.
void EmitExchange(TileCode& code, const Partials& partials, const Bits& run, bool across_blocks);

}  // namespace telemetry::worker::codegen::emit
