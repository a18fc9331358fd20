#pragma once

#include <memory>
#include <vector>

#include "worker/wrapper/run_plan.h"

namespace telemetry::worker::wrapper {

// The device that TELEMETRY_TEST_DEVICE names, "opencl:0" without it.
std::shared_ptr<Device> TestDevice();

// What a plan gives, on the host, when it is run with these inputs, of the host too. `device` null: it runs there.
std::vector<ir::HostArray> PlanOutputs(const Plan& plan, const std::shared_ptr<Device>& device,
                                       const std::vector<Tensor>& inputs, debug::ValueDebugger* debugger = nullptr);

}  // namespace telemetry::worker::wrapper
