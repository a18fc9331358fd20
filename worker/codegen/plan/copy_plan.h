#pragma once

#include <optional>
#include <vector>

#include "worker/codegen/plan/mma_plan.h"
#include "worker/codegen/plan/plan.h"
#include "worker/codegen/plan/uses.h"
#include "worker/codegen/text/mma_functions.h"

namespace telemetry::worker::codegen::plan {

// A copy of an operand of a tensor core dot from a tensor to shared memory. The operand is a load without any further
// operation, so its bytes bypass the registers, and with cp.async the block can do other work during the copy. Each
// copy has a layout set of its own, which determines the elements that each thread copies.
struct SharedCopy {
  int graph = 0;  // id of the graph of the load
  int load = 0;   // node index
  int user = 0;   // id of the graph of the dot
  text::MmaType type = text::MmaType::kF16;
  int own = -1;                // the operand's own axis: the one that is not summed
  int summed = -1;             // the summed axis
  bool may_run_ahead = false;  // the loop stores nothing, so the load can run in an earlier iteration

  // Reports whether the copy is made once, before the loop of the dot.
  bool is_held() const { return user != graph; }
};

// Returns, by layout set, the operands that are copied.
std::vector<std::optional<SharedCopy>> PlanCopies(const Plan& plan, const Uses& uses, const MmaPlan& mma);

}  // namespace telemetry::worker::codegen::plan
