#pragma once

#include <cstdint>

#include "worker/codegen/combiner.h"
#include "worker/codegen/tile_code.h"

namespace telemetry::worker::codegen {

// A run of neighbouring bits of the thread's index.
struct Bits {
  int64_t lowest = 1;  // as a value
  int64_t count = 1;   // of the run's values

  int64_t mask() const { return lowest * (count - 1); }
};

// What each thread has of a reduction's result so far; `position` for kArgMax only.
struct Partials {
  const Combiner& combiner;
  const TileValue& value;
  const TileValue& position;
};

// Threads leave what they have in shared memory and take up that of all threads of their run, in the same order, so
// that all have the same bits in the end. The run's threads are those of a block, which differ in these bits of their
// index; or, across blocks, those at the same place in the blocks of a cluster that differ in these bits of their rank.
// What threads differ in inside a warp, and for runs across blocks inside the block, is combined already.
void EmitExchange(TileCode& code, const Partials& partials, const Bits& run, bool across_blocks);

}  // namespace telemetry::worker::codegen
