#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "worker/device/cuda_context.h"
#include "worker/device/device.h"

namespace telemetry::worker::device {

// Loads a cubin. INTERNAL: an error of the driver (for example, a cubin for another architecture). FAILED_PRECONDITION:
// see CudaContext::CheckNotCapturing.
absl::StatusOr<std::unique_ptr<Module>> LoadCudaModule(const std::shared_ptr<const CudaContext>& context,
                                                       const CompiledCode& code);

}  // namespace telemetry::worker::device
