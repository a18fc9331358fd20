#pragma once

#include <optional>
#include <string>
#include <vector>

#include "worker/codegen/mma_plan.h"
#include "worker/codegen/plan.h"
#include "worker/codegen/uses.h"

namespace telemetry::worker::codegen {

class MmaOperand;
class TileCode;

// A copy of an operand of a tensor core dot from a tensor to shared memory. The operand is a load without any further
// operation, so its bytes bypass the registers, and with cp.async the block can do other work during the copy. Each
// copy has a layout set of its own, which determines the elements that each thread copies.
struct SharedCopy {
  int graph = 0;
  int load = 0;
  MmaType type = MmaType::kF16;
  int own = -1;                // the operand's own axis: the one that is not summed
  int summed = -1;             // the summed axis
  bool may_run_ahead = false;  // the loop stores nothing, so the load can run in an earlier iteration
};

// Returns, by layout set, the operands that are copied.
std::vector<std::optional<SharedCopy>> PlanCopies(const Plan& plan, const Uses& uses, const MmaPlan& mma);

// Emits the copy of the operand's part of the tile at the current `begin...` to `operand`; elements beyond the ends
// become 0. A thread sees its own copies after WaitForCopies(), and the block sees them after a barrier that follows.
void EmitCopy(TileCode& code, int set, const MmaOperand& operand);

// Emits the end of a group of copies: all that the thread started since the previous group.
void CloseCopies(TileCode& code);
// Emits a wait until at most the last `groups_left` groups of the thread are in flight.
void WaitForCopies(TileCode& code, int64_t groups_left);

}  // namespace telemetry::worker::codegen
