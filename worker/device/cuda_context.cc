#include "worker/device/cuda_context.h"

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/strings.h"

namespace telemetry::worker::device {

absl::StatusOr<std::shared_ptr<const CudaContext>> CudaContext::Create(const CudaApi* api,
                                                                       const DeviceProperties& properties) {
  std::shared_ptr<CudaContext> context(new CudaContext(api, properties));
  RETURN_IF_ERROR(context->Open());
  return context;
}

absl::Status CudaContext::Open() {
  absl::Status status = Check(api_->device_get(&device_, properties_.ordinal), "cuDeviceGet");
  if (status.ok()) status = Check(api_->primary_context_retain(&context_, device_), "cuDevicePrimaryCtxRetain");
  if (status.ok()) status = MakeCurrent();
  if (status.ok()) status = Check(api_->stream_create(&own_stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  stream_ = own_stream_;
  return status;
}

CudaContext::~CudaContext() {
  if (context_ == nullptr) return;
  if (own_stream_ != nullptr && MakeCurrent().ok()) api_->stream_destroy(own_stream_);
  api_->primary_context_release(device_);
}

absl::Status CudaContext::MakeCurrent() const { return Check(api_->context_set_current(context_), "cuCtxSetCurrent"); }

absl::Status CudaContext::CheckNotCapturing(std::string_view what) const {
  if (stream_ == own_stream_) return absl::OkStatus();
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
  RETURN_IF_ERROR(Check(api_->stream_is_capturing(stream_, &capture), "cuStreamIsCapturing"));
  if (capture == CU_STREAM_CAPTURE_STATUS_NONE) return absl::OkStatus();
  return absl::FailedPreconditionError(record::Cat(
      "cannot ", what, " while the stream is captured into a graph; make the same call once before the capture"));
}

absl::Status CudaContext::Check(CUresult result, std::string_view what) const {
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  return CudaStatus(*api_, result, record::Cat("cuda:", properties_.ordinal, ": ", what));
}

}  // namespace telemetry::worker::device
