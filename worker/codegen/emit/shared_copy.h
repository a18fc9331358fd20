#pragma once

#include <cstdint>

#include "worker/codegen/emit/mma_operand.h"
#include "worker/codegen/emit/tile_code.h"

namespace telemetry::worker::codegen::emit {

// The code that copies operands of dots from tensors to shared memory (plan::SharedCopy).

// Emits the copy of the operand's part of the tile at the current `begin...` to `operand`; elements beyond the ends
// become 0. A thread sees its own copies after WaitForCopies(), and the block sees them after a barrier that follows.
void EmitCopy(TileCode& code, int set, const MmaOperand& operand);

// Emits the end of a group of copies: all that the thread started since the previous group.
void CloseCopies(TileCode& code);
// Emits a wait until at most the last `groups_left` groups of the thread are in flight.
void WaitForCopies(TileCode& code, int64_t groups_left);

}  // namespace telemetry::worker::codegen::emit
