#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "worker/codegen/config.h"
#include "worker/kernels/library.h"
#include "worker/wrapper/lines.h"

namespace telemetry::worker::wrapper {

// A plan of one launch: the problem's tensors are its inputs, what the kernel writes its outputs. It is named after the
// kernel. Errors are PlanBuilder::Finish's.
absl::StatusOr<Plan> PlanOfLaunch(const kernels::LibraryKernel& kernel, const kernels::Problem& problem,
                                  std::optional<codegen::Config> config = std::nullopt);

}  // namespace telemetry::worker::wrapper
