#include "tests/worker/wrapper/plan_outputs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "worker/device/open_device.h"

namespace telemetry::worker::wrapper {

using device::Device;
using runtime::Tensor;

std::shared_ptr<Device> TestDevice() {
  const char* named = std::getenv("TELEMETRY_TEST_DEVICE");
  absl::StatusOr<std::shared_ptr<Device>> device = device::OpenDevice(named == nullptr ? "opencl:0" : named);
  EXPECT_TRUE(device.ok()) << device.status();
  return device.value_or(nullptr);
}

std::vector<ir::HostArray> PlanOutputs(const Plan& plan, const std::shared_ptr<Device>& device,
                                       const std::vector<Tensor>& inputs, debug::ValueDebugger* debugger) {
  const auto runner = PlanRunner::Create(plan, device, debugger);
  EXPECT_TRUE(runner.ok()) << runner.status();
  if (!runner.ok()) return {};
  std::vector<Tensor> given = inputs;
  for (Tensor& input : given) {
    if (device != nullptr) input = *runtime::ToDevice(device, *input.host);
  }
  const absl::StatusOr<std::vector<Tensor>> outputs = (*runner)->Run(given);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  std::vector<ir::HostArray> arrays;
  for (size_t i = 0; outputs.ok() && i < outputs->size(); ++i) arrays.push_back(*ToHost(outputs->at(i)));
  return arrays;
}

}  // namespace telemetry::worker::wrapper
