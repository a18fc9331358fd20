#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/codegen/config.h"
#include "worker/codegen/target.h"
#include "worker/device/device.h"
#include "worker/ir/graph.h"
#include "worker/ir/reference/reference.h"

namespace telemetry::worker::codegen {

// Execution of generated code on a device, for tests that compare the results with the reference.

// Opens the device that TELEMETRY_TEST_DEVICE names, by default "opencl:0". Aborts if it cannot be opened.
std::shared_ptr<device::Device> TestDevice();

// Generates, compiles and runs the kernel. `tensors` holds at least the arguments, as for ir::reference::Evaluate().
// Missing outputs are appended, and `tensors` holds the results afterwards.
absl::Status RunKernel(const ir::DeviceIr& ir, const Config& config, const std::map<std::string, double>& scalars,
                       device::Device* device, ir::reference::Tensors* tensors, const GenerateOptions& options = {});

// Compiles the CUDA source for an architecture: `sm` is 80 for sm_80. UNAVAILABLE if there is no NVRTC.
absl::Status CompileForCuda(const ir::DeviceIr& ir, const Config& config, int sm, const GenerateOptions& options = {});

}  // namespace telemetry::worker::codegen
