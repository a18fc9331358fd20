#pragma once

#include "worker/codegen/generate.h"
#include "worker/codegen/tile_code.h"

namespace telemetry::worker::codegen {

// Which tile a block, or a cluster of blocks, works on. Tiles are numbered along the grid's axes, in the order of
// loop_orders; l2_groupings makes as many tiles of the last axis but one take turns before the last one moves on, so
// that what they share stays in the cache. A flat grid has one per tile; a persistent one has as many as the device
// runs at once, each of which takes a range of tiles (blocked) or every n-th (interleaved).

// Opens the loop over tiles of a persistent grid, and declares where the tile begins along each axis of the grid. To be
// closed by the caller once, whatever the type.
void OpenTiles(TileCode& code);

// So many tiles at most has a persistent grid under way at once; 0 for a flat one, which has all of them.
int64_t PersistentTiles(const Plan& plan);

}  // namespace telemetry::worker::codegen
