#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/device/cuda_context.h"
#include "worker/device/device.h"

namespace telemetry::worker::device {

// Implements ListDevices for CUDA. UNAVAILABLE: there is no driver, or it has no device; the message names which.
absl::StatusOr<std::vector<DeviceProperties>> ListCudaDevices(std::vector<std::string>* notices);

// `properties` must be an element of ListCudaDevices().
absl::StatusOr<std::shared_ptr<Device>> OpenCudaDevice(const DeviceProperties& properties);

// Returns the device of a context, with the functions of the context's driver.
std::shared_ptr<Device> MakeCudaDevice(std::shared_ptr<const CudaContext> context);

}  // namespace telemetry::worker::device
