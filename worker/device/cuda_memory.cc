#include "worker/device/cuda_memory.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"

namespace telemetry::worker {

absl::StatusOr<std::unique_ptr<Buffer>> AllocateCudaBuffer(const std::shared_ptr<const CudaContext>& context,
                                                           size_t size_bytes) {
  if (absl::Status status = context->MakeCurrent(); !status.ok()) return status;
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

}  // namespace telemetry::worker
