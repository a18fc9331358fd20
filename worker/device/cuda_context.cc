#include "worker/device/cuda_context.h"

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::device {

absl::Status CudaContext::MakeCurrent() const {
  if (!is_open_) {
    RETURN_IF_ERROR(Open());
  }
  return SetCurrent();
}

absl::Status CudaContext::Open() const {
  const absl::MutexLock lock(&opening_);
  if (is_open_) return absl::OkStatus();
  RETURN_IF_ERROR(Check(api_->device_get(&device_, properties_.ordinal), "cuDeviceGet"));
  RETURN_IF_ERROR(Check(api_->primary_context_retain(&context_, device_), "cuDevicePrimaryCtxRetain"));
  absl::Status status = SetCurrent();
  if (status.ok()) status = Check(api_->stream_create(&own_stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  if (!status.ok()) api_->primary_context_release(device_);
  is_open_ = status.ok();
  return status;
}

CudaContext::~CudaContext() {
  if (!is_open_) return;
  if (SetCurrent().ok()) api_->stream_destroy(own_stream_);
  api_->primary_context_release(device_);
}

absl::Status CudaContext::CheckNotCapturing(std::string_view what) const {
  if (!stream_.has_value()) return absl::OkStatus();
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  RETURN_IF_ERROR(Check(api_->stream_is_capturing(*stream_, &capture), "cuStreamIsCapturing"));
  if (capture == CU_STREAM_CAPTURE_STATUS_NONE) return absl::OkStatus();
  return absl::FailedPreconditionError(record::Cat(
      "cannot ", what, " while the stream is captured into a graph; make the same call once before the capture"));
}

absl::Status CudaContext::Check(CUresult result, std::string_view what) const {
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  return CudaStatus(*api_, result, record::Cat("cuda:", properties_.ordinal, ": ", what));
}

}  // namespace telemetry::worker::device
