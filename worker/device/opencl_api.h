#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace telemetry::worker::device {

// The functions of OpenCL 1.2 (libOpenCL.so.1) that this folder calls. Any thread may use them.
struct OpenClApi {
  decltype(&clGetPlatformIDs) get_platform_ids;
  decltype(&clGetPlatformInfo) get_platform_info;
  decltype(&clGetDeviceIDs) get_device_ids;
  decltype(&clGetDeviceInfo) get_device_info;

  decltype(&clCreateContext) create_context;
  decltype(&clReleaseContext) release_context;
  decltype(&clCreateCommandQueue) create_queue;
  decltype(&clReleaseCommandQueue) release_queue;
  decltype(&clCreateBuffer) create_buffer;
  decltype(&clCreateSubBuffer) create_sub_buffer;
  decltype(&clReleaseMemObject) release_memory;

  decltype(&clEnqueueWriteBuffer) enqueue_write;
  decltype(&clEnqueueReadBuffer) enqueue_read;
  decltype(&clEnqueueFillBuffer) enqueue_fill;
  decltype(&clEnqueueCopyBuffer) enqueue_copy;
  decltype(&clEnqueueMarkerWithWaitList) enqueue_marker;
  decltype(&clEnqueueNDRangeKernel) enqueue_kernel;
  decltype(&clFinish) finish;
  decltype(&clWaitForEvents) wait_for_events;
  decltype(&clGetEventProfilingInfo) get_profiling_info;
  decltype(&clReleaseEvent) release_event;

  decltype(&clCreateProgramWithSource) create_program;
  decltype(&clCreateProgramWithBinary) create_program_of_binary;
  decltype(&clBuildProgram) build_program;
  decltype(&clGetProgramBuildInfo) get_build_info;
  decltype(&clGetProgramInfo) get_program_info;
  decltype(&clReleaseProgram) release_program;
  decltype(&clCreateKernel) create_kernel;
  decltype(&clGetKernelInfo) get_kernel_info;
  decltype(&clGetKernelWorkGroupInfo) get_kernel_work_group_info;
  decltype(&clSetKernelArg) set_kernel_argument;
  decltype(&clReleaseKernel) release_kernel;
};

// Returns the functions of OpenCL's loader. The first call opens it. UNAVAILABLE: there is no loader; the message lists
// the libraries that were tried.
absl::StatusOr<const OpenClApi*> GetOpenClApi();

// Returns OK, RESOURCE_EXHAUSTED for a lack of memory, else INTERNAL. The message is `what` with the error's name.
absl::Status OpenClStatus(cl_int result, std::string_view what);

// Owns one reference to an OpenCL object; `release` is the function that drops it.
template <typename Handle, cl_int (*OpenClApi::*release)(Handle)>
class OpenClHandle {
 public:
  OpenClHandle() = default;
  OpenClHandle(const OpenClApi* api, Handle handle) : api_(api), handle_(handle) {}
  OpenClHandle(OpenClHandle&& other) noexcept : api_(other.api_), handle_(std::exchange(other.handle_, nullptr)) {}
  OpenClHandle& operator=(OpenClHandle&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~OpenClHandle() {
    if (handle_ != nullptr) (api_->*release)(handle_);
  }

  const Handle& get() const { return handle_; }

 private:
  const OpenClApi* api_ = nullptr;
  Handle handle_ = nullptr;
};

using OpenClContextHandle = OpenClHandle<cl_context, &OpenClApi::release_context>;
using OpenClQueueHandle = OpenClHandle<cl_command_queue, &OpenClApi::release_queue>;
using OpenClMemoryHandle = OpenClHandle<cl_mem, &OpenClApi::release_memory>;
using OpenClEventHandle = OpenClHandle<cl_event, &OpenClApi::release_event>;
using OpenClProgramHandle = OpenClHandle<cl_program, &OpenClApi::release_program>;
using OpenClKernelHandle = OpenClHandle<cl_kernel, &OpenClApi::release_kernel>;

}  // namespace telemetry::worker::device
