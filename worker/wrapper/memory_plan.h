#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// The sizes for which memory planning decides.
enum class MemoryScope {
  kTheseSizes,  // those of the buffers
  kAllSizes,    // those of all values of the plan's symbols within their bounds: the lines do not depend on the values
};

// A plan that holds memory no longer than needed, and the savings.
struct MemoryPlan {
  Plan plan;
  int64_t peak_bytes_before = 0;  // PeakBytes() of the given plan
  int64_t peak_bytes_after = 0;   // PeakBytes() of `plan`; never more
  int allocations_before = 0;     // Allocate lines
  int allocations_after = 0;
};

// Plans the memory of a plan. This changes when memory is allocated and freed, never the results:
// - Allocations move to the first use of the buffer or of a view of it, releases (FreeIfNotReused) behind the last use.
//   A buffer that is never used is removed.
// - A released buffer becomes the next buffer of its dtype and size class (size_class.h). The buffer that was released
//   last is used first, unless holding it until then would raise the peak. Other released buffers are freed where they
//   are released.
// - A buffer stays in its subgraph. If a subgraph or conditional inside uses the buffer, the buffer is allocated before
// it
//   and released behind it. Memory is reused only in the subgraph that released it.
// Free lines stay where they are. Memory that a library allocated goes back to the library.
//
// With kAllSizes, memory is reused only between buffers whose sizes are equal for all values of the symbols
// (PlanBuffer::forms), and only if the peak cannot rise for any of them (memory_budget.h). A plan of the same lines
// with other values of the symbols gets the same lines. INVALID_ARGUMENT: VerifyPlan() refuses the given plan.
// INTERNAL: the sizes of a buffer are not those of its forms.
absl::StatusOr<MemoryPlan> PlanMemory(const Plan& plan, MemoryScope scope = MemoryScope::kTheseSizes);

// Returns the maximum memory that the plan holds at a time, in bytes of size classes, without its inputs. The plan must
// be verified.
int64_t PeakBytes(const Plan& plan);

// Returns an upper bound of PeakBytes() for all values of the symbols within their bounds; nullopt if it exceeds 2^60
// bytes. The plan must be verified.
std::optional<int64_t> MostPeakBytes(const Plan& plan);

}  // namespace telemetry::worker::wrapper
