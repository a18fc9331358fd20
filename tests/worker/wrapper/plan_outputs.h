#pragma once

#include <memory>
#include <vector>

#include "worker/wrapper/run_plan.h"

namespace telemetry::worker::wrapper {

// Returns the device that TELEMETRY_TEST_DEVICE names, or "opencl:0".
std::shared_ptr<device::Device> TestDevice();

// Runs a plan with inputs from the host and returns the outputs on the host. If `device` is null, the plan runs on the
// host.
std::vector<ir::HostArray> PlanOutputs(const Plan& plan, const std::shared_ptr<device::Device>& device,
                                       const std::vector<runtime::Tensor>& inputs,
                                       debug::ValueDebugger* debugger = nullptr);

}  // namespace telemetry::worker::wrapper
