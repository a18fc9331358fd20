#pragma once

#include "worker/codegen/emit/tile_code.h"

namespace telemetry::worker::codegen::emit {

// Emits a reduction (kSum, kAMax, kAMin, kProd or kArgMax) of a value along an axis. Each thread first reduces its own
// registers. Threads then combine their results: with shuffles inside a warp (CUDA only), through shared memory inside
// a block, and through the shared memory of the other blocks in a cluster. All threads get bit-identical results.
TileValue EmitReduction(TileCode& code, const ir::Node& node, const TileValue& value);

}  // namespace telemetry::worker::codegen::emit
