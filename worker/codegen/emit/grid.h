#pragma once

#include "worker/codegen/emit/tile_code.h"

namespace telemetry::worker::codegen::emit {

// The mapping of thread blocks, or of clusters of blocks, to tiles. Tiles are numbered along the grid's axes in the
// order of loop_orders. With l2_groupings n, n consecutive tiles of the second-to-last axis run before the last axis
// advances, so that data they share stays in the cache. A flat grid has one block or cluster for each tile. A
// persistent grid has as many as the device runs at once, and each of them processes a range of tiles (blocked) or
// every n-th tile (interleaved).

// Opens the loop over tiles of a persistent grid, or a plain scope for a flat one, and declares the position at which
// the tile begins along each grid axis. The caller closes the scope with one CodeWriter::Close().
void OpenTiles(TileCode& code);

// Returns the most tiles that a persistent grid processes at once, or 0 for a flat grid, which has no such limit.
int64_t PersistentTiles(const plan::Plan& plan);
// The same for a kernel with a producer warp: the blocks that shared memory has room for at once. The producer copies
// the next tile while the other warps store, so that a block needs no other one beside it.
int64_t ResidentTiles(const plan::Plan& plan, int64_t shared_bytes);

}  // namespace telemetry::worker::codegen::emit
