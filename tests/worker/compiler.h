#pragma once

#include <cstdlib>

#include "worker/device/device.h"

namespace telemetry::worker {

// Returns false where CUDA sources cannot be compiled: the tests that do so are skipped. True in any case where
// TELEMETRY_NVRTC names a compiler, so that one that cannot be loaded fails those tests.
inline bool HasNvrtc() {
  return std::getenv("TELEMETRY_NVRTC") != nullptr || !absl::IsUnavailable(CompileCuda("", "sm_80").status());
}

}  // namespace telemetry::worker
