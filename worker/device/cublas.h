#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/cuda_context.h"
#include "worker/device/device.h"

namespace telemetry::worker::device {

// The cuBLAS library for one CUDA context; queues in the stream that the context uses. Like the device, it allows one
// call at a time.
class Cublas {
 public:
  // UNAVAILABLE: there is no cuBLAS on this machine (the message lists the paths that were tried). INTERNAL: an error
  // of cuBLAS.
  static absl::StatusOr<std::unique_ptr<Cublas>> Create(std::shared_ptr<const CudaContext> context);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  // Implements Device::Multiply for a product whose buffers were checked.
  absl::Status Multiply(const MatrixProduct& product);

 private:
  struct Api;

  explicit Cublas(std::shared_ptr<const CudaContext> context, const Api* api)
      : context_(std::move(context)), api_(api) {}
  static absl::StatusOr<const Api*> GetApi();

  const std::shared_ptr<const CudaContext> context_;
  const Api* const api_;
  void* handle_ = nullptr;
  CUstream stream_ = nullptr;  // that of the handle
};

}  // namespace telemetry::worker::device
