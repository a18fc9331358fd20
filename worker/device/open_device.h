#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/device/device.h"

namespace telemetry::worker::device {

// Returns all devices of this machine, CUDA devices first; empty if there is no driver. `notices` receives the drivers
// that were not found and the devices that were skipped because of an error.
std::vector<DeviceProperties> ListDevices(std::vector<std::string>* notices = nullptr);

// Opens a device by its name, such as "cuda:0" or "opencl:1"; "" opens the first of ListDevices(). NOT_FOUND: the
// message lists the devices that exist.
absl::StatusOr<std::shared_ptr<Device>> OpenDevice(const std::string& id);

}  // namespace telemetry::worker::device
