#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/device/opencl_api.h"

namespace telemetry::worker {

// A device of one of OpenCL's platforms.
struct OpenClDeviceEntry {
  DeviceProperties properties;
  cl_device_id device = nullptr;
  // Whether a compiled program's binary is worth taking; see opencl_program.h.
  bool takes_binaries = true;
};

// The devices of all platforms, numbered in the order in which the platforms offer them. UNAVAILABLE: there is no
// loader or no device; says which. `notices` says which platforms or devices answered with an error.
absl::StatusOr<std::vector<OpenClDeviceEntry>> ListOpenClDevices(const OpenClApi& api,
                                                                 std::vector<std::string>* notices);

}  // namespace telemetry::worker
