#include "worker/device/cuda_api.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "proto/record/strings.h"
#include "worker/device/library.h"

namespace telemetry::worker::device {
namespace {

absl::Status BindAll(const SharedLibrary& library, CudaApi* api) {
  // The suffixes are part of the ABI: cuda.h redirects the plain names to these functions.
  return FunctionBinder(library)
      .Bind("cuGetErrorName", &api->get_error_name)
      .Bind("cuGetErrorString", &api->get_error_string)
      .Bind("cuInit", &api->init)
      .Bind("cuDriverGetVersion", &api->driver_get_version)
      .Bind("cuDeviceGetCount", &api->device_get_count)
      .Bind("cuDeviceGet", &api->device_get)
      .Bind("cuDeviceGetName", &api->device_get_name)
      .Bind("cuDeviceGetAttribute", &api->device_get_attribute)
      .Bind("cuDeviceTotalMem_v2", &api->device_total_mem)
      .Bind("cuDevicePrimaryCtxRetain", &api->primary_context_retain)
      .Bind("cuDevicePrimaryCtxRelease_v2", &api->primary_context_release)
      .Bind("cuCtxSetCurrent", &api->context_set_current)
      .Bind("cuCtxGetCurrent", &api->context_get_current)
      .Bind("cuMemAlloc_v2", &api->mem_alloc)
      .Bind("cuMemFree_v2", &api->mem_free)
      .Bind("cuMemcpyHtoDAsync_v2", &api->memcpy_to_device)
      .Bind("cuMemcpyDtoHAsync_v2", &api->memcpy_to_host)
      .Bind("cuMemcpyDtoDAsync_v2", &api->memcpy_on_device)
      .Bind("cuMemsetD8Async", &api->memset_bytes)
      .Bind("cuPointerGetAttributes", &api->pointer_get_attributes)
      .Bind("cuStreamCreate", &api->stream_create)
      .Bind("cuStreamDestroy_v2", &api->stream_destroy)
      .Bind("cuStreamSynchronize", &api->stream_synchronize)
      .Bind("cuStreamIsCapturing", &api->stream_is_capturing)
      .Bind("cuEventCreate", &api->event_create)
      .Bind("cuEventDestroy_v2", &api->event_destroy)
      .Bind("cuEventRecord", &api->event_record)
      .Bind("cuEventSynchronize", &api->event_synchronize)
      .Bind("cuEventElapsedTime", &api->event_elapsed_time)
      .Bind("cuModuleLoadData", &api->module_load_data)
      .Bind("cuModuleUnload", &api->module_unload)
      .Bind("cuModuleGetGlobal_v2", &api->module_get_global)
      .Bind("cuModuleGetFunction", &api->module_get_function)
      .Bind("cuFuncGetAttribute", &api->function_get_attribute)
      .Bind("cuFuncSetAttribute", &api->function_set_attribute)
      .Bind("cuOccupancyMaxActiveBlocksPerMultiprocessor", &api->blocks_per_multiprocessor)
      .BindOptional("cuFuncGetParamInfo", &api->function_get_parameter)
      .Bind("cuLaunchKernel", &api->launch_kernel)
      .status();
}

absl::StatusOr<CudaApi> LoadCuda() {
  absl::StatusOr<SharedLibrary> library = SharedLibrary::Open({"libcuda.so.1"});
  if (!library.ok()) {
    return absl::UnavailableError(
        absl::StrCat("no CUDA: NVIDIA's driver cannot be opened (", library.status().message(), ")"));
  }
  CudaApi api = {};
  absl::Status status = BindAll(*library, &api);
  if (status.ok()) status = CudaStatus(api, api.init(0), "cuInit");
  if (!status.ok()) return absl::UnavailableError(absl::StrCat("no CUDA: ", status.message()));
  return api;
}

}  // namespace

absl::StatusOr<const CudaApi*> GetCudaApi() {
  static const absl::StatusOr<CudaApi>& api = *new absl::StatusOr<CudaApi>(LoadCuda());
  if (!api.ok()) return api.status();
  return &*api;
}

absl::Status CudaStatus(const CudaApi& api, CUresult result, std::string_view what) {
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  const char* name = nullptr;
  const char* meaning = nullptr;
  api.get_error_name(result, &name);
  api.get_error_string(result, &meaning);
  const std::string message = record::Cat(what, " failed: ", name == nullptr ? absl::StrCat("error ", result) : name,
                                          meaning == nullptr ? "" : absl::StrCat(" (", meaning, ")"));
  return result == CUDA_ERROR_OUT_OF_MEMORY ? absl::ResourceExhaustedError(message) : absl::InternalError(message);
}

}  // namespace telemetry::worker::device
