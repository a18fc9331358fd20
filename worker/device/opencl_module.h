#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/device/opencl_context.h"

namespace telemetry::worker::device {

// Implements Device::Load.
absl::StatusOr<std::unique_ptr<Module>> LoadOpenClModule(const std::shared_ptr<const OpenClContext>& context,
                                                         const CompiledCode& code);

}  // namespace telemetry::worker::device
