#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

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
// Free lines stay where they are. Memory that a library allocated goes back to the library. INVALID_ARGUMENT:
// VerifyPlan() refuses the given plan.
absl::StatusOr<MemoryPlan> PlanMemory(const Plan& plan);

// Returns the maximum memory that the plan holds at a time, in bytes of size classes, without its inputs. The plan must
// be verified.
int64_t PeakBytes(const Plan& plan);

}  // namespace telemetry::worker::wrapper
