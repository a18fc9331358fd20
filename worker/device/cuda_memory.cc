#include "worker/device/cuda_memory.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "worker/device/launch_checks.h"

namespace telemetry::worker::device {

absl::StatusOr<std::unique_ptr<Buffer>> AllocateCudaBuffer(const std::shared_ptr<const CudaContext>& context,
                                                           size_t size_bytes) {
  RETURN_IF_ERROR(context->MakeCurrent());
  RETURN_IF_ERROR(context->CheckNotCapturing("allocate memory"));
  CUdeviceptr pointer = 0;
  const CUresult result = context->api().mem_alloc(&pointer, std::max<size_t>(size_bytes, 1));
  if (result != CUDA_SUCCESS) return context->Check(result, absl::StrCat("cuMemAlloc of ", size_bytes, " bytes"));
  return std::make_unique<CudaBuffer>(CudaMemoryHandle(context, pointer), size_bytes);
}

absl::StatusOr<std::unique_ptr<Buffer>> WrapCudaMemory(const std::shared_ptr<const CudaContext>& context,
                                                       CUdeviceptr pointer, size_t size_bytes,
                                                       std::shared_ptr<const void> owner) {
  if (size_bytes == 0) return std::make_unique<CudaBuffer>(context, pointer, size_bytes, std::move(owner));
  RETURN_IF_ERROR(CheckProgramAddress(pointer));
  RETURN_IF_ERROR(context->MakeCurrent());
  unsigned type = 0;
  int ordinal = -1;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* values[] = {&type, &ordinal};
  RETURN_IF_ERROR(
      context->Check(context->api().pointer_get_attributes(2, attributes, values, pointer), "cuPointerGetAttributes"));
  const int own = context->properties().ordinal;
  if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_DEVICE) {
    return absl::InvalidArgumentError(absl::StrCat("the address is not CUDA memory; move the tensor to cuda:", own));
  }
  if (type == CU_MEMORYTYPE_DEVICE && ordinal >= 0 && ordinal != own) {
    return absl::InvalidArgumentError(
        absl::StrCat("the address is memory of cuda:", ordinal, "; move the tensor to cuda:", own));
  }
  return std::make_unique<CudaBuffer>(context, pointer, size_bytes, std::move(owner));
}

const CudaBuffer* OwnBuffer(const CudaContext& context, const Buffer* buffer) {
  const auto* own = dynamic_cast<const CudaBuffer*>(buffer);
  return own != nullptr && own->context() == &context ? own : nullptr;
}

const CudaEvent* OwnEvent(const CudaContext& context, const Event& event) {
  const auto* own = dynamic_cast<const CudaEvent*>(&event);
  return own != nullptr && own->context() == &context ? own : nullptr;
}

}  // namespace telemetry::worker::device
