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

// An operand of a tensor core's dot that is a load and nothing else. It goes from the tensor to shared memory as it is,
// past the registers and, with cp.async, while the block does something else. Each has a layout set of its own, which
// here says which thread copies what.
struct SharedCopy {
  int graph = 0;
  int load = 0;
  MmaType type = MmaType::kF16;
  int own = -1;                // the operand's axis beside
  int summed = -1;             // the summed one
  bool may_run_ahead = false;  // nothing that its loop does can change what it reads
};

// By layout set: what is copied.
std::vector<std::optional<SharedCopy>> PlanCopies(const Plan& plan, const Uses& uses, const MmaPlan& mma);

// Copies what the tile at the current `begin...` has of it, zeros beyond the ends, to the operand's place. The copies
// of a thread are there for itself after WaitForCopies, for the block after a barrier behind that.
void EmitCopy(TileCode& code, int set, const MmaOperand& operand);

// Closes a group of copies: those since the last one.
void CloseCopies(TileCode& code);
// Until at most so many groups of the thread's, the last ones, are on their way.
void WaitForCopies(TileCode& code, int64_t groups_left);

}  // namespace telemetry::worker::codegen
