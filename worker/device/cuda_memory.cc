#include "worker/device/cuda_memory.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace telemetry::worker::device {

absl::StatusOr<std::unique_ptr<Buffer>> AllocateCudaBuffer(const std::shared_ptr<const CudaContext>& context,
                                                           size_t size_bytes) {
  RETURN_IF_ERROR(context->MakeCurrent());
  CUdeviceptr pointer = 0;
  const CUresult result = context->api().mem_alloc(&pointer, std::max<size_t>(size_bytes, 1));
  if (result != CUDA_SUCCESS) return context->Check(result, absl::StrCat("cuMemAlloc of ", size_bytes, " bytes"));
  return std::make_unique<CudaBuffer>(CudaMemoryHandle(context, pointer), size_bytes);
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
