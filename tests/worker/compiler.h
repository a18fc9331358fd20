#pragma once

#include <cstdlib>

#include "worker/device/compile_cuda.h"
#include "worker/device/device.h"

namespace telemetry::worker {

// Returns false if CUDA sources cannot be compiled; tests that compile them are then skipped. Always returns true if
// TELEMETRY_NVRTC is set, so that these tests fail if the library that it names cannot be loaded.
inline bool HasNvrtc() {
  return std::getenv("TELEMETRY_NVRTC") != nullptr || !absl::IsUnavailable(device::CompileCuda("", "sm_80").status());
}

}  // namespace telemetry::worker
