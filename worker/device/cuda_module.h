#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "worker/device/cuda_context.h"
#include "worker/device/device.h"

namespace telemetry::worker {

// Loads a cubin. INTERNAL: the driver's error (a cubin of another architecture, for one).
absl::StatusOr<std::unique_ptr<Module>> LoadCudaModule(const std::shared_ptr<const CudaContext>& context,
                                                       const CompiledCode& code);

}  // namespace telemetry::worker
