#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/codegen/generate.h"
#include "worker/device/device.h"
#include "worker/ir/graph.h"
#include "worker/ir/reference.h"

namespace telemetry::worker::codegen {

// Generated code on a device: what the tests of this room compare with the reference.

// The device that TELEMETRY_TEST_DEVICE names; "opencl:0" without it.
std::shared_ptr<Device> TestDevice();

// Generates, compiles and runs the kernel. `tensors` holds the arguments at least, as EvaluateReference takes them; the
// outputs are made, filled with what nobody may read, and hold the results afterwards.
absl::Status RunKernel(const ir::DeviceIr& ir, const Config& config, const std::map<std::string, double>& scalars,
                       Device* device, ir::ReferenceTensors* tensors, const GenerateOptions& options = {});

// Compiles the CUDA source for the architecture, 80 for sm_80. UNAVAILABLE: there is no NVRTC.
absl::Status CompileForCuda(const ir::DeviceIr& ir, const Config& config, int sm, const GenerateOptions& options = {});

}  // namespace telemetry::worker::codegen
