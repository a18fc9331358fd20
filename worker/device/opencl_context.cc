#include "worker/device/opencl_context.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "worker/device/launch_checks.h"

namespace telemetry::worker::device {
namespace {

// Returns an object that releases `owner` after the work that is queued at its own end. OpenCL keeps a memory object
// that queued work uses, but not the host memory below it.
std::shared_ptr<const void> ReleaseAfterQueuedWork(std::shared_ptr<const OpenClContext> context,
                                                   std::shared_ptr<const void> owner) {
  if (owner == nullptr) return nullptr;
  const void* const owned = owner.get();
  return {owned, [context = std::move(context), owner = std::move(owner)](const void*) mutable {
            context->api().finish(context->queue());
            owner.reset();
          }};
}

}  // namespace

absl::StatusOr<std::shared_ptr<const OpenClContext>> OpenClContext::Create(const OpenClApi* api,
                                                                           OpenClDeviceEntry entry) {
  std::shared_ptr<OpenClContext> context(new OpenClContext(api, std::move(entry)));
  const cl_device_id device = context->device();
  cl_int result = CL_SUCCESS;
  context->context_ = {api, api->create_context(nullptr, 1, &device, nullptr, nullptr, &result)};
  if (result != CL_SUCCESS) return OpenClStatus(result, "clCreateContext");
  context->queue_ = {api, api->create_queue(context->get(), device, CL_QUEUE_PROFILING_ENABLE, &result)};
  if (result != CL_SUCCESS) return OpenClStatus(result, "clCreateCommandQueue");
  return context;
}

OpenClContext::~OpenClContext() {
  if (queue() != nullptr) api_->finish(queue());
}

absl::StatusOr<std::unique_ptr<Buffer>> AllocateOpenClBuffer(const std::shared_ptr<const OpenClContext>& context,
                                                             size_t size_bytes) {
  const OpenClApi& api = context->api();
  cl_int result = CL_SUCCESS;
  OpenClMemoryHandle memory(
      &api, api.create_buffer(context->get(), CL_MEM_READ_WRITE, std::max<size_t>(size_bytes, 1), nullptr, &result));
  if (result != CL_SUCCESS) return OpenClStatus(result, absl::StrCat("clCreateBuffer of ", size_bytes, " bytes"));
  return std::make_unique<OpenClBuffer>(context, std::move(memory), size_bytes);
}

absl::StatusOr<std::unique_ptr<Buffer>> WrapHostMemory(const std::shared_ptr<const OpenClContext>& context,
                                                       uint64_t address, size_t size_bytes,
                                                       std::shared_ptr<const void> owner) {
  const OpenClApi& api = context->api();
  auto* const host = std::bit_cast<void*>(address);
  cl_int result = CL_SUCCESS;
  cl_mem memory = nullptr;
  if (size_bytes == 0) {  // OpenCL has no empty buffers
    memory = api.create_buffer(context->get(), CL_MEM_READ_WRITE, 1, nullptr, &result);
  } else {
    RETURN_IF_ERROR(CheckProgramAddress(address));
    memory = api.create_buffer(context->get(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, size_bytes, host, &result);
  }
  if (result != CL_SUCCESS) return OpenClStatus(result, absl::StrCat("clCreateBuffer with ", size_bytes, " bytes"));
  return std::make_unique<OpenClBuffer>(context, OpenClMemoryHandle(&api, memory), size_bytes, host,
                                        ReleaseAfterQueuedWork(context, std::move(owner)));
}

absl::StatusOr<std::unique_ptr<Buffer>> ViewOpenClBuffer(const std::shared_ptr<const OpenClContext>& context,
                                                         const OpenClBuffer& whole, size_t offset_bytes,
                                                         size_t size_bytes) {
  if (size_bytes == 0) return AllocateOpenClBuffer(context, 0);  // OpenCL has no empty sub-buffers
  const OpenClApi& api = context->api();
  const cl_buffer_region region = {.origin = offset_bytes, .size = size_bytes};
  cl_int result = CL_SUCCESS;
  OpenClMemoryHandle memory(
      &api, api.create_sub_buffer(whole.memory(), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &result));
  if (result != CL_SUCCESS) return OpenClStatus(result, "clCreateSubBuffer");
  return std::make_unique<OpenClBuffer>(context, std::move(memory), size_bytes, /*host=*/nullptr, whole.owner());
}

const OpenClBuffer* OwnBuffer(const OpenClContext& context, const Buffer* buffer) {
  const auto* own = dynamic_cast<const OpenClBuffer*>(buffer);
  return own != nullptr && own->context() == &context ? own : nullptr;
}

}  // namespace telemetry::worker::device
