#pragma once

#include "worker/codegen/generated_kernel.h"
#include "worker/device/device.h"
#include "worker/kernels/library_kernel.h"
#include "worker/model/feature_row.h"

namespace telemetry::worker::model {

// A kernel with the code of one config, before it is compiled.
struct GeneratedLaunch {
  const codegen::GeneratedKernel& code;
  const ir::DeviceIr& ir;
  const device::DeviceProperties& device;
  kernels::Cost cost;  // of the whole launch
};

// Adds the features that the code generator knows: threads, grid, waves, shared memory, work per block and thread, and
// the size of the source. None of them is known for a null pointer.
void AddLaunchFeatures(const GeneratedLaunch* launch, FeatureRow* row);

}  // namespace telemetry::worker::model
