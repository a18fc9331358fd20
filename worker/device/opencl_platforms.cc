#include "worker/device/opencl_platforms.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace telemetry::worker::device {
namespace {

std::string PlatformText(const OpenClApi& api, cl_platform_id platform, cl_platform_info what) {
  size_t size = 0;
  if (api.get_platform_info(platform, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  if (api.get_platform_info(platform, what, size, text.data(), nullptr) != CL_SUCCESS) return "";
  text.pop_back();  // the terminator
  return text;
}

absl::StatusOr<std::string> DeviceText(const OpenClApi& api, cl_device_id device, cl_device_info what) {
  size_t size = 0;
  cl_int result = api.get_device_info(device, what, 0, nullptr, &size);
  std::string text(size, '\0');
  if (result == CL_SUCCESS) result = api.get_device_info(device, what, size, text.data(), nullptr);
  if (result != CL_SUCCESS) return OpenClStatus(result, "clGetDeviceInfo");
  if (!text.empty()) text.pop_back();
  return text;
}

// Returns 0 if the device does not report the value.
template <typename Number>
Number DeviceNumber(const OpenClApi& api, cl_device_id device, cl_device_info what) {
  Number number = 0;
  return api.get_device_info(device, what, sizeof(number), &number, nullptr) == CL_SUCCESS ? number : 0;
}

absl::StatusOr<DeviceProperties> ReadProperties(const OpenClApi& api, cl_device_id device) {
  absl::StatusOr<std::string> name = DeviceText(api, device, CL_DEVICE_NAME);
  absl::StatusOr<std::string> version = DeviceText(api, device, CL_DEVICE_VERSION);
  absl::StatusOr<std::string> driver = DeviceText(api, device, CL_DRIVER_VERSION);
  for (const auto* text : {&name, &version, &driver}) {
    if (!text->ok()) return text->status();
  }
  return DeviceProperties{
      .dialect = Dialect::kOpenCl,
      .name = *std::move(name),
      .architecture = *std::move(version),
      .driver_version = *std::move(driver),
      .compute_units = static_cast<int>(DeviceNumber<cl_uint>(api, device, CL_DEVICE_MAX_COMPUTE_UNITS)),
      .max_threads_per_block = static_cast<int>(DeviceNumber<size_t>(api, device, CL_DEVICE_MAX_WORK_GROUP_SIZE)),
      .shared_bytes_per_block = DeviceNumber<cl_ulong>(api, device, CL_DEVICE_LOCAL_MEM_SIZE),
      .global_bytes = DeviceNumber<cl_ulong>(api, device, CL_DEVICE_GLOBAL_MEM_SIZE),
      .l2_bytes = DeviceNumber<cl_ulong>(api, device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE),
      .clock_khz = static_cast<int>(DeviceNumber<cl_uint>(api, device, CL_DEVICE_MAX_CLOCK_FREQUENCY) * 1000),
  };
}

absl::StatusOr<std::vector<cl_platform_id>> Platforms(const OpenClApi& api) {
  cl_uint count = 0;
  // If no platform is installed, the loader returns an error or no platforms.
  if (api.get_platform_ids(0, nullptr, &count) != CL_SUCCESS || count == 0) {
    return absl::UnavailableError(
        "no OpenCL: libOpenCL.so.1 is installed, but finds no platform (none in /etc/OpenCL/vendors)");
  }
  std::vector<cl_platform_id> platforms(count);
  absl::Status status = OpenClStatus(api.get_platform_ids(count, platforms.data(), nullptr), "clGetPlatformIDs");
  if (!status.ok()) return absl::UnavailableError(absl::StrCat("no OpenCL: ", status.message()));
  return platforms;
}

absl::StatusOr<std::vector<cl_device_id>> ListPlatformDevices(const OpenClApi& api, cl_platform_id platform) {
  cl_uint count = 0;
  cl_int result = api.get_device_ids(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  if (result == CL_DEVICE_NOT_FOUND) return std::vector<cl_device_id>();
  std::vector<cl_device_id> devices(count);
  if (result == CL_SUCCESS && count > 0) {
    result = api.get_device_ids(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
  }
  if (result != CL_SUCCESS) return OpenClStatus(result, "clGetDeviceIDs");
  return devices;
}

}  // namespace

absl::StatusOr<std::vector<OpenClDeviceEntry>> ListOpenClDevices(const OpenClApi& api,
                                                                 std::vector<std::string>* notices) {
  ASSIGN_OR_RETURN(std::vector<cl_platform_id> platforms, Platforms(api));
  std::vector<OpenClDeviceEntry> entries;
  int ordinal = 0;
  for (cl_platform_id platform : platforms) {
    const std::string name = PlatformText(api, platform, CL_PLATFORM_NAME);
    const absl::StatusOr<std::vector<cl_device_id>> devices = ListPlatformDevices(api, platform);
    if (!devices.ok()) {
      notices->push_back(absl::StrCat("OpenCL platform ", name, " is left out: ", devices.status().message()));
      continue;
    }
    for (cl_device_id device : *devices) {
      absl::StatusOr<DeviceProperties> properties = ReadProperties(api, device);
      const int number = ordinal++;  // also counts skipped devices, so that the others keep their numbers
      if (!properties.ok()) {
        notices->push_back(absl::StrCat("opencl:", number, " is left out: ", properties.status().message()));
        continue;
      }
      properties->ordinal = number;
      properties->runtime_version = absl::StrCat(name, ", ", PlatformText(api, platform, CL_PLATFORM_VERSION));
      entries.push_back({.properties = *std::move(properties),
                         .device = device,
                         .takes_binaries = !absl::StrContains(name, "Portable Computing Language")});
    }
  }
  if (entries.empty()) return absl::UnavailableError("no OpenCL: its platforms have no device");
  return entries;
}

}  // namespace telemetry::worker::device
