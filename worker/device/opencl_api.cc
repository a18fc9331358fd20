#include "worker/device/opencl_api.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "proto/record/strings.h"
#include "worker/device/library.h"

namespace telemetry::worker::device {
namespace {

absl::Status BindAll(const SharedLibrary& library, OpenClApi* api) {
  return FunctionBinder(library)
      .Bind("clGetPlatformIDs", &api->get_platform_ids)
      .Bind("clGetPlatformInfo", &api->get_platform_info)
      .Bind("clGetDeviceIDs", &api->get_device_ids)
      .Bind("clGetDeviceInfo", &api->get_device_info)
      .Bind("clCreateContext", &api->create_context)
      .Bind("clReleaseContext", &api->release_context)
      .Bind("clCreateCommandQueue", &api->create_queue)
      .Bind("clReleaseCommandQueue", &api->release_queue)
      .Bind("clCreateBuffer", &api->create_buffer)
      .Bind("clCreateSubBuffer", &api->create_sub_buffer)
      .Bind("clReleaseMemObject", &api->release_memory)
      .Bind("clEnqueueWriteBuffer", &api->enqueue_write)
      .Bind("clEnqueueReadBuffer", &api->enqueue_read)
      .Bind("clEnqueueFillBuffer", &api->enqueue_fill)
      .Bind("clEnqueueCopyBuffer", &api->enqueue_copy)
      .Bind("clEnqueueMarkerWithWaitList", &api->enqueue_marker)
      .Bind("clEnqueueNDRangeKernel", &api->enqueue_kernel)
      .Bind("clFinish", &api->finish)
      .Bind("clWaitForEvents", &api->wait_for_events)
      .Bind("clGetEventProfilingInfo", &api->get_profiling_info)
      .Bind("clReleaseEvent", &api->release_event)
      .Bind("clCreateProgramWithSource", &api->create_program)
      .Bind("clCreateProgramWithBinary", &api->create_program_of_binary)
      .Bind("clBuildProgram", &api->build_program)
      .Bind("clGetProgramBuildInfo", &api->get_build_info)
      .Bind("clGetProgramInfo", &api->get_program_info)
      .Bind("clReleaseProgram", &api->release_program)
      .Bind("clCreateKernel", &api->create_kernel)
      .Bind("clGetKernelInfo", &api->get_kernel_info)
      .Bind("clGetKernelWorkGroupInfo", &api->get_kernel_work_group_info)
      .Bind("clSetKernelArg", &api->set_kernel_argument)
      .Bind("clReleaseKernel", &api->release_kernel)
      .status();
}

absl::StatusOr<OpenClApi> LoadOpenCl() {
  absl::StatusOr<SharedLibrary> library = SharedLibrary::Open({"libOpenCL.so.1"});
  if (!library.ok()) {
    return absl::UnavailableError(
        absl::StrCat("no OpenCL: its loader cannot be opened (", library.status().message(), ")"));
  }
  OpenClApi api = {};
  if (absl::Status status = BindAll(*library, &api); !status.ok()) {
    return absl::UnavailableError(absl::StrCat("no OpenCL: ", status.message()));
  }
  return api;
}

const char* ErrorName(cl_int result) {
  switch (result) {
#define TELEMETRY_CL_NAME(name) \
  case name:                    \
    return #name
    TELEMETRY_CL_NAME(CL_DEVICE_NOT_FOUND);
    TELEMETRY_CL_NAME(CL_DEVICE_NOT_AVAILABLE);
    TELEMETRY_CL_NAME(CL_COMPILER_NOT_AVAILABLE);
    TELEMETRY_CL_NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE);
    TELEMETRY_CL_NAME(CL_OUT_OF_RESOURCES);
    TELEMETRY_CL_NAME(CL_OUT_OF_HOST_MEMORY);
    TELEMETRY_CL_NAME(CL_PROFILING_INFO_NOT_AVAILABLE);
    TELEMETRY_CL_NAME(CL_MEM_COPY_OVERLAP);
    TELEMETRY_CL_NAME(CL_BUILD_PROGRAM_FAILURE);
    TELEMETRY_CL_NAME(CL_MAP_FAILURE);
    TELEMETRY_CL_NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    TELEMETRY_CL_NAME(CL_LINKER_NOT_AVAILABLE);
    TELEMETRY_CL_NAME(CL_LINK_PROGRAM_FAILURE);
    TELEMETRY_CL_NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET);
    TELEMETRY_CL_NAME(CL_INVALID_VALUE);
    TELEMETRY_CL_NAME(CL_INVALID_PLATFORM);
    TELEMETRY_CL_NAME(CL_INVALID_DEVICE);
    TELEMETRY_CL_NAME(CL_INVALID_CONTEXT);
    TELEMETRY_CL_NAME(CL_INVALID_QUEUE_PROPERTIES);
    TELEMETRY_CL_NAME(CL_INVALID_COMMAND_QUEUE);
    TELEMETRY_CL_NAME(CL_INVALID_MEM_OBJECT);
    TELEMETRY_CL_NAME(CL_INVALID_BINARY);
    TELEMETRY_CL_NAME(CL_INVALID_BUILD_OPTIONS);
    TELEMETRY_CL_NAME(CL_INVALID_PROGRAM);
    TELEMETRY_CL_NAME(CL_INVALID_PROGRAM_EXECUTABLE);
    TELEMETRY_CL_NAME(CL_INVALID_KERNEL_NAME);
    TELEMETRY_CL_NAME(CL_INVALID_KERNEL_DEFINITION);
    TELEMETRY_CL_NAME(CL_INVALID_KERNEL);
    TELEMETRY_CL_NAME(CL_INVALID_ARG_INDEX);
    TELEMETRY_CL_NAME(CL_INVALID_ARG_VALUE);
    TELEMETRY_CL_NAME(CL_INVALID_ARG_SIZE);
    TELEMETRY_CL_NAME(CL_INVALID_KERNEL_ARGS);
    TELEMETRY_CL_NAME(CL_INVALID_WORK_DIMENSION);
    TELEMETRY_CL_NAME(CL_INVALID_WORK_GROUP_SIZE);
    TELEMETRY_CL_NAME(CL_INVALID_WORK_ITEM_SIZE);
    TELEMETRY_CL_NAME(CL_INVALID_GLOBAL_WORK_SIZE);
    TELEMETRY_CL_NAME(CL_INVALID_EVENT);
    TELEMETRY_CL_NAME(CL_INVALID_OPERATION);
    TELEMETRY_CL_NAME(CL_INVALID_BUFFER_SIZE);
#undef TELEMETRY_CL_NAME
    case -1001:
      return "CL_PLATFORM_NOT_FOUND_KHR";
    default:
      return "";
  }
}

}  // namespace

absl::StatusOr<const OpenClApi*> GetOpenClApi() {
  static const absl::StatusOr<OpenClApi>& api = *new absl::StatusOr<OpenClApi>(LoadOpenCl());
  if (!api.ok()) return api.status();
  return &*api;
}

absl::Status OpenClStatus(cl_int result, std::string_view what) {
  if (result == CL_SUCCESS) return absl::OkStatus();
  const std::string message = record::Cat(what, " failed: ", ErrorName(result), " (", result, ")");
  const bool memory =
      result == CL_MEM_OBJECT_ALLOCATION_FAILURE || result == CL_OUT_OF_HOST_MEMORY || result == CL_INVALID_BUFFER_SIZE;
  return memory ? absl::ResourceExhaustedError(message) : absl::InternalError(message);
}

}  // namespace telemetry::worker::device
