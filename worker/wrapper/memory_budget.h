#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "worker/device/dtype.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// The memory that a plan holds while each line runs, and the limit that memory planning must keep: the peak of the plan
// before any memory is reused. For use by one thread.
class MemoryBudget {
 public:
  // Buffers of the same key fit into the memory of each other.
  using Key = std::pair<device::DType, int64_t>;

  virtual ~MemoryBudget() = default;
  virtual Key KeyOf(int buffer) const = 0;
  // Returns true if the peak certainly does not rise when the memory of a buffer is also held in the lines after
  // `released` and before `allocated`.
  virtual bool Allows(size_t released, size_t allocated, int buffer) = 0;
  // Holds the memory of a buffer in these lines.
  virtual void Hold(size_t released, size_t allocated, int buffer) = 0;
};

// Returns the budget for the sizes that the buffers have. The plan must be verified, and outlive the budget; its lines
// may not change.
std::unique_ptr<MemoryBudget> BudgetForTheseSizes(const Plan& plan);

// Returns a budget for all values of the plan's symbols within their bounds. Buffers of the same key have equal sizes
// (PlanBuffer::forms) for all values. The peak does not rise for any value if each buffer that is held at a line can be
// paired with a buffer of its own, at least as large for all values, of one line of the plan before. That is
// sufficient, not necessary: some reuse that would be safe is not allowed.
std::unique_ptr<MemoryBudget> BudgetForAllSizes(const Plan& plan);

}  // namespace telemetry::worker::wrapper
