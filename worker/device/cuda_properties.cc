#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "worker/device/compile_cuda.h"
#include "worker/device/cuda_api.h"
#include "worker/device/cuda_device.h"

namespace telemetry::worker::device {
namespace {

// 13020 becomes "13.2".
std::string VersionText(int version) { return absl::StrCat(version / 1000, ".", version % 1000 / 10); }

absl::StatusOr<DeviceProperties> ReadProperties(const CudaApi& api, int ordinal) {
  CUdevice device = 0;
  std::array<char, 256> name = {};
  size_t global_bytes = 0;
  absl::Status status = CudaStatus(api, api.device_get(&device, ordinal), "cuDeviceGet");
  if (status.ok()) {
    status =
        CudaStatus(api, api.device_get_name(name.data(), static_cast<int>(name.size()), device), "cuDeviceGetName");
  }
  if (status.ok()) status = CudaStatus(api, api.device_total_mem(&global_bytes, device), "cuDeviceTotalMem");
  if (!status.ok()) return status;
  // The value 0 means "not known" in DeviceProperties.
  const auto attribute = [&api, device](CUdevice_attribute which) {
    int value = 0;
    return api.device_get_attribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
  };
  return DeviceProperties{
      .dialect = Dialect::kCuda,
      .ordinal = ordinal,
      .name = name.data(),
      .architecture = absl::StrCat("sm_", attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                                   attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)),
      .compute_units = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
      .warp_size = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
      .max_threads_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
      .max_threads_per_compute_unit = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
      .shared_bytes_per_block = static_cast<size_t>(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)),
      .global_bytes = global_bytes,
      .l2_bytes = static_cast<uint64_t>(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)),
      .clock_khz = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
      .memory_clock_khz = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
      .memory_bus_bits = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH),
  };
}

}  // namespace

absl::StatusOr<std::vector<DeviceProperties>> ListCudaDevices(std::vector<std::string>* notices) {
  ASSIGN_OR_RETURN(const CudaApi* const api, GetCudaApi());
  int count = 0;
  int driver_version = 0;
  absl::Status status = CudaStatus(*api, api->device_get_count(&count), "cuDeviceGetCount");
  if (status.ok()) {
    status = CudaStatus(*api, api->driver_get_version(&driver_version), "cuDriverGetVersion");
  }
  if (!status.ok()) return absl::UnavailableError(absl::StrCat("no CUDA: ", status.message()));
  if (count == 0) return absl::UnavailableError("no CUDA: NVIDIA's driver is installed, but reports no device");

  const absl::StatusOr<std::string> nvrtc = NvrtcVersion();
  if (!nvrtc.ok()) notices->push_back(std::string(nvrtc.status().message()));
  std::vector<DeviceProperties> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    absl::StatusOr<DeviceProperties> properties = ReadProperties(*api, ordinal);
    if (!properties.ok()) {
      notices->push_back(absl::StrCat("cuda:", ordinal, " is left out: ", properties.status().message()));
      continue;
    }
    properties->driver_version = VersionText(driver_version);
    properties->runtime_version = nvrtc.value_or("");
    devices.push_back(*std::move(properties));
  }
  return devices;
}

}  // namespace telemetry::worker::device
