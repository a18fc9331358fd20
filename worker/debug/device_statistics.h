#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/debug/statistics_code.h"
#include "worker/debug/tensor_statistics.h"
#include "worker/device/device.h"
#include "worker/runtime/tensor.h"

namespace telemetry::worker::debug {

// Computes the statistics of tensors on their device. The device reads each element once: every thread block writes a
// partial result, and the host combines them. Sums are doubles and add distances from an element of the tensor, so that
// a small deviation of large numbers is not lost. On a device without doubles the sums are floats, which are accurate
// to about four digits of the largest element. Thread-compatible.
class DeviceStatistics {
 public:
  using Sums = StatisticsSums;

  // Compiles the kernel, with floats if the device has no doubles. Returns the errors of the device.
  static absl::StatusOr<std::unique_ptr<DeviceStatistics>> Create(std::shared_ptr<device::Device> device);
  static absl::StatusOr<std::unique_ptr<DeviceStatistics>> CreateWith(std::shared_ptr<device::Device> device,
                                                                      Sums sums);

  // Returns the statistics of a tensor on this device with any rank and strides. Waits for work queued before. Returns
  // the errors of the device.
  absl::StatusOr<TensorStatistics> Compute(const runtime::Tensor& tensor);

 private:
  DeviceStatistics(std::shared_ptr<device::Device> device, Sums sums) : device_(std::move(device)), sums_(sums) {}

  absl::Status Compile();
  absl::Status AllocateBuffers();
  // Launches the kernel and returns the number of thread blocks.
  absl::StatusOr<int64_t> Launch(const runtime::Tensor& tensor);

  const std::shared_ptr<device::Device> device_;
  const Sums sums_;
  int threads_ = 64;
  int64_t most_blocks_ = 1;
  std::unique_ptr<device::Function> function_;
  std::unique_ptr<device::Buffer> parts_;
  std::unique_ptr<device::Buffer> layout_;  // sizes, then strides
};

}  // namespace telemetry::worker::debug
