#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "worker/device/device.h"

namespace telemetry::worker::device {

// NVIDIA's run-time compiler, loaded by the first call: the library in TELEMETRY_NVRTC if it is set, else the one that
// the loader or /usr/local/cuda has. Any thread may call these functions.

// Returns a version such as "13.0". UNAVAILABLE: there is no NVRTC; the message lists the paths that were tried.
absl::StatusOr<std::string> NvrtcVersion();

// Returns the version and the size of the library's file, which tells releases with the same version apart.
// UNAVAILABLE: as above.
absl::StatusOr<std::string> NvrtcIdentity();

// The cache of compiled code that NVRTC 12.9 and later have on disk, which belongs to the driver. To use it, a process
// loads and initialises the driver.
enum class NvrtcCache { kUsed, kBypassed };

// Compiles CUDA source, without a device, to a cubin for an architecture ("sm_80", "sm_90") with all instructions of
// that architecture. UNAVAILABLE: as above. INVALID_ARGUMENT: the message is the compiler's log.
absl::StatusOr<CompiledCode> CompileCuda(const std::string& source, const std::string& architecture,
                                         NvrtcCache cache = NvrtcCache::kUsed);

}  // namespace telemetry::worker::device
