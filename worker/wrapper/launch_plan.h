#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "worker/codegen/config.h"
#include "worker/kernels/library.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// Returns a plan of one launch, named after the kernel. Its inputs are the tensors of the problem, its outputs those of
// the kernel. Errors are those of kernels::TraceProblem() and PlanBuilder::Finish().
absl::StatusOr<Plan> PlanOfLaunch(const kernels::LibraryKernel& kernel, const kernels::Problem& problem,
                                  std::optional<codegen::Config> config = std::nullopt);

}  // namespace telemetry::worker::wrapper
