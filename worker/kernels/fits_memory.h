#pragma once

#include "absl/status/status.h"
#include "worker/kernels/problem.h"

namespace telemetry::worker::kernels {

// INVALID_ARGUMENT: this machine's memory does not hold the values of a Case of the problem.
absl::Status CheckFitsMemory(const Problem& problem);

}  // namespace telemetry::worker::kernels
