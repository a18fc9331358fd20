#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/device/opencl_api.h"

namespace telemetry::worker::device {

// A device of an OpenCL platform.
struct OpenClDeviceEntry {
  DeviceProperties properties;
  cl_device_id device = nullptr;
  // True if compiled binaries are used for this device; see opencl_program.h.
  bool takes_binaries = true;
};

// Returns the devices of all platforms, numbered in the order of the platforms. UNAVAILABLE: there is no platform or no
// device; the message names which. `notices` receives the platforms and devices that were skipped because of an error.
absl::StatusOr<std::vector<OpenClDeviceEntry>> ListOpenClDevices(const OpenClApi& api,
                                                                 std::vector<std::string>* notices);

}  // namespace telemetry::worker::device
