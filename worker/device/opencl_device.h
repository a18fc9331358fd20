#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/device/opencl_platforms.h"

namespace telemetry::worker::device {

// `entry` must be an element of ListOpenClDevices().
absl::StatusOr<std::shared_ptr<Device>> OpenOpenClDevice(const OpenClApi* api, const OpenClDeviceEntry& entry);

}  // namespace telemetry::worker::device
