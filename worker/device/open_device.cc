#include "worker/device/open_device.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/device/cuda_device.h"
#include "worker/device/opencl_api.h"
#include "worker/device/opencl_device.h"
#include "worker/device/opencl_platforms.h"

namespace telemetry::worker::device {
namespace {

std::vector<DeviceProperties> CudaDevices(std::vector<std::string>* notices) {
  absl::StatusOr<std::vector<DeviceProperties>> devices = ListCudaDevices(notices);
  if (devices.ok()) return *std::move(devices);
  notices->push_back(std::string(devices.status().message()));
  return {};
}

std::vector<OpenClDeviceEntry> OpenClDevices(std::vector<std::string>* notices) {
  const absl::StatusOr<const OpenClApi*> api = GetOpenClApi();
  absl::StatusOr<std::vector<OpenClDeviceEntry>> devices =
      api.ok() ? ListOpenClDevices(**api, notices) : absl::StatusOr<std::vector<OpenClDeviceEntry>>(api.status());
  if (devices.ok()) return *std::move(devices);
  notices->push_back(std::string(devices.status().message()));
  return {};
}

absl::Status NotFound(const std::string& id, const std::vector<std::string>& present,
                      const std::vector<std::string>& notices) {
  std::string message = id.empty() ? "there is no device" : absl::StrCat("there is no device \"", id, "\"");
  absl::StrAppend(&message, "; this machine has ", present.empty() ? "none" : "");
  for (const std::string& other : present) absl::StrAppend(&message, &other == &present.front() ? "" : ", ", other);
  for (const std::string& notice : notices) absl::StrAppend(&message, "; ", notice);
  return absl::NotFoundError(message);
}

}  // namespace

std::vector<DeviceProperties> ListDevices(std::vector<std::string>* notices) {
  std::vector<std::string> unheard;
  if (notices == nullptr) notices = &unheard;
  std::vector<DeviceProperties> devices = CudaDevices(notices);
  for (OpenClDeviceEntry& entry : OpenClDevices(notices)) devices.push_back(std::move(entry.properties));
  return devices;
}

absl::StatusOr<std::shared_ptr<Device>> OpenDevice(const std::string& id) {
  std::vector<std::string> present;
  std::vector<std::string> notices;
  for (const DeviceProperties& properties : CudaDevices(&notices)) {
    present.push_back(DeviceId(properties));
    if (id.empty() || id == present.back()) return OpenCudaDevice(properties);
  }
  for (const OpenClDeviceEntry& entry : OpenClDevices(&notices)) {
    present.push_back(DeviceId(entry.properties));
    if (id.empty() || id == present.back()) return OpenOpenClDevice(*GetOpenClApi(), entry);
  }
  return NotFound(id, present, notices);
}

}  // namespace telemetry::worker::device
