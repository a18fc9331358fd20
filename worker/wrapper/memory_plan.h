#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// A plan that holds memory no longer than needed, and what that is worth.
struct MemoryPlan {
  Plan plan;
  int64_t peak_bytes_before = 0;  // PeakBytes of the plan that was given
  int64_t peak_bytes_after = 0;   // of this one; never more
  int allocations_before = 0;     // Allocate lines
  int allocations_after = 0;
};

// Changes when memory comes and goes, never what is computed:
// - allocations move to the first use of the buffer or of a view of it, releases (FreeIfNotReused) behind the last one;
//   a buffer without use goes away;
// - a released buffer becomes the next one of its dtype and size class (size_class.h), the one released last first,
//   unless holding it until then would raise the peak; the others are freed where they are released.
// Free lines stay where they are, and what a library allocated goes back to it. INVALID_ARGUMENT is VerifyPlan's, of
// the plan that is given.
absl::StatusOr<MemoryPlan> PlanMemory(const Plan& plan);

// The most that the plan holds at once, in bytes of size classes, without its inputs. Of verified plans.
int64_t PeakBytes(const Plan& plan);

}  // namespace telemetry::worker::wrapper
