#pragma once

#include "absl/status/status.h"
#include "worker/kernels/problem.h"

namespace telemetry::worker::kernels {

// Returns INVALID_ARGUMENT if the input values of two Cases of this problem, which are drawn at the same time, exceed
// this machine's physical memory.
absl::Status CheckFitsMemory(const Problem& problem);

}  // namespace telemetry::worker::kernels
