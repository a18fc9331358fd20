#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/cuda_types.h"

namespace telemetry::worker::device {

// The functions of the CUDA driver (libcuda.so.1) that this folder calls. Any thread may use them.
struct CudaApi {
  CUresult (*get_error_name)(CUresult error, const char** text);
  CUresult (*get_error_string)(CUresult error, const char** text);
  CUresult (*init)(unsigned flags);
  CUresult (*driver_get_version)(int* version);

  CUresult (*device_get_count)(int* count);
  CUresult (*device_get)(CUdevice* device, int ordinal);
  CUresult (*device_get_name)(char* name, int size, CUdevice device);
  CUresult (*device_get_attribute)(int* value, CUdevice_attribute attribute, CUdevice device);
  CUresult (*device_total_mem)(size_t* bytes, CUdevice device);

  CUresult (*primary_context_retain)(CUcontext* context, CUdevice device);
  CUresult (*primary_context_release)(CUdevice device);
  CUresult (*context_set_current)(CUcontext context);
  CUresult (*context_get_current)(CUcontext* context);

  CUresult (*mem_alloc)(CUdeviceptr* pointer, size_t bytes);
  CUresult (*mem_free)(CUdeviceptr pointer);
  CUresult (*memcpy_to_device)(CUdeviceptr to, const void* from, size_t bytes, CUstream stream);
  CUresult (*memcpy_to_host)(void* to, CUdeviceptr from, size_t bytes, CUstream stream);
  CUresult (*memcpy_on_device)(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
  CUresult (*memset_bytes)(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream);

  // Sets the values of an unknown address to 0.
  CUresult (*pointer_get_attributes)(unsigned count, CUpointer_attribute* attributes, void** values,
                                     CUdeviceptr pointer);

  CUresult (*stream_create)(CUstream* stream, unsigned flags);
  CUresult (*stream_destroy)(CUstream stream);
  CUresult (*stream_synchronize)(CUstream stream);
  CUresult (*stream_is_capturing)(CUstream stream, CUstreamCaptureStatus* status);
  CUresult (*event_create)(CUevent* event, unsigned flags);
  CUresult (*event_destroy)(CUevent event);
  CUresult (*event_record)(CUevent event, CUstream stream);
  CUresult (*event_synchronize)(CUevent event);
  CUresult (*event_elapsed_time)(float* ms, CUevent begin, CUevent end);

  CUresult (*module_load_data)(CUmodule* module, const void* image);
  CUresult (*module_unload)(CUmodule module);
  CUresult (*module_get_global)(CUdeviceptr* address, size_t* bytes, CUmodule module, const char* name);
  CUresult (*module_get_function)(CUfunction* function, CUmodule module, const char* name);
  CUresult (*function_get_attribute)(int* value, CUfunction_attribute attribute, CUfunction function);
  CUresult (*function_set_attribute)(CUfunction function, CUfunction_attribute attribute, int value);
  CUresult (*blocks_per_multiprocessor)(int* blocks, CUfunction function, int threads, size_t shared_bytes);
  // Null in drivers before 12.4.
  CUresult (*function_get_parameter)(CUfunction function, size_t index, size_t* offset, size_t* bytes);
  CUresult (*launch_kernel)(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,
                            void** parameters, void** extra);
};

// Returns the driver's functions. The first call loads and initialises the driver. UNAVAILABLE: there is no driver, or
// it has no device; the message contains the libraries that were tried, or the driver's error.
absl::StatusOr<const CudaApi*> GetCudaApi();

// Returns OK, RESOURCE_EXHAUSTED for a lack of device memory, else INTERNAL. The message is `what` with the error's
// name and description.
absl::Status CudaStatus(const CudaApi& api, CUresult result, std::string_view what);

}  // namespace telemetry::worker::device
