#pragma once

#include <optional>
#include <string>

#include "worker/device/device.h"

namespace telemetry::worker::model {

// Returns the properties of a device that the environment of an attempt records (tune/attempt_description); nullopt if
// it records none. Properties that are not recorded have their defaults.
std::optional<device::DeviceProperties> ReadDevice(const std::string& environment_json);

// Returns the properties that the environment of an attempt would record, so that the features of a device that is
// present equal those of its records.
device::DeviceProperties RecordedPart(const device::DeviceProperties& device);

}  // namespace telemetry::worker::model
