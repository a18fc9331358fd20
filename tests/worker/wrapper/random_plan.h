#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/runtime/tensor.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// Returns a plan of up to 16 calls, views, writes of rows, allocations, releases and frees over small matrices. The
// same seed gives the same plan.
absl::StatusOr<Plan> RandomPlan(uint64_t seed);

// Returns values for the inputs of a plan, on the host.
std::vector<runtime::Tensor> MakeInputs(const Plan& plan, uint64_t seed);

}  // namespace telemetry::worker::wrapper
