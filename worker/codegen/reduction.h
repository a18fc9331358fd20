#pragma once

#include "worker/codegen/tile_code.h"

namespace telemetry::worker::codegen {

// Reduces a value along an axis: each thread its own registers first, then across threads: by shuffles inside a warp
// (CUDA), through shared memory elsewhere, through that of other blocks in a cluster. All threads get the same result,
// bit for bit. kSum, kAMax, kAMin, kProd and kArgMax.
TileValue EmitReduction(TileCode& code, const ir::Node& node, const TileValue& value);

}  // namespace telemetry::worker::codegen
