#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/debug/statistics_code.h"
#include "worker/debug/tensor_statistics.h"
#include "worker/device/device.h"
#include "worker/kernel/tensor.h"

namespace telemetry::worker::debug {

// Computes statistics on the device, which reads each element once: every block leaves a part, and the host adds them
// up. Sums are doubles, and those of distances from an element of the tensor, so that a small deviation of large
// numbers is not lost; on a device without doubles they are floats, good for four digits of the largest element. One
// thread at a time.
class DeviceStatistics {
 public:
  using Sums = StatisticsSums;

  // Compiles; with floats where the device has no doubles. Errors are the device's.
  static absl::StatusOr<std::unique_ptr<DeviceStatistics>> Create(std::shared_ptr<Device> device);
  static absl::StatusOr<std::unique_ptr<DeviceStatistics>> CreateWith(std::shared_ptr<Device> device, Sums sums);

  // Of a tensor of that device, of any rank and strides. Waits for what was queued before. Errors are the device's.
  absl::StatusOr<TensorStatistics> Compute(const Tensor& tensor);

 private:
  DeviceStatistics(std::shared_ptr<Device> device, Sums sums) : device_(std::move(device)), sums_(sums) {}

  absl::Status Compile();
  absl::Status AllocateBuffers();
  // The launch's blocks.
  absl::StatusOr<int64_t> Launch(const Tensor& tensor);

  const std::shared_ptr<Device> device_;
  const Sums sums_;
  int threads_ = 64;
  int64_t most_blocks_ = 1;
  std::unique_ptr<Function> function_;
  std::unique_ptr<Buffer> parts_;
  std::unique_ptr<Buffer> layout_;  // sizes, then strides
};

}  // namespace telemetry::worker::debug
