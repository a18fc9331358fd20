#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "worker/device/device.h"

namespace telemetry::worker {

// NVIDIA's run-time compiler, loaded by the first call: the library that TELEMETRY_NVRTC names, else what the loader or
// /usr/local/cuda has. Any thread.

// "13.0". UNAVAILABLE: there is none; says where it was looked for.
absl::StatusOr<std::string> NvrtcVersion();

// As CompileCuda of device.h.
absl::StatusOr<CompiledCode> NvrtcCompile(const std::string& source, const std::string& architecture);

}  // namespace telemetry::worker
