#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/runtime/tensor.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// The options of a random plan.
struct RandomPlanOptions {
  int64_t unit = 1;           // sizes are multiples of it; the lines do not depend on it. A symbol of the plan
  bool for_programs = false;  // only lines that every kind of program can compute
};

// Returns a plan of calls, views, writes of rows and elements, joins, subgraphs, conditionals, allocations, releases
// and frees over small matrices. The same seed and options give the same plan.
absl::StatusOr<Plan> RandomPlan(uint64_t seed, const RandomPlanOptions& options = {});

// Returns values for the inputs of a plan, on the host. Indices that a kernel of the library reads are in range.
std::vector<runtime::Tensor> MakeInputs(const Plan& plan, uint64_t seed);

}  // namespace telemetry::worker::wrapper
