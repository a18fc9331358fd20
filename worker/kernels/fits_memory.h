#pragma once

#include "absl/status/status.h"
#include "worker/kernels/problem.h"

namespace telemetry::worker::kernels {

// Returns INVALID_ARGUMENT if the input values of a Case of this problem exceed this machine's physical memory.
absl::Status CheckFitsMemory(const Problem& problem);

}  // namespace telemetry::worker::kernels
