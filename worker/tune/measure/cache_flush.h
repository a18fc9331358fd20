#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/device.h"

namespace telemetry::worker::tune {

// Leaves nothing of a kernel's tensors in the device's last cache. It does so by reading: a cache that was filled by
// writing would have to be written back while the next kernel runs, and that kernel would be charged for it (H200: 12.9
// against 11.4 us for a norm of 2048 x 4096 f16).
class CacheFlush {
 public:
  // Takes twice the cache of device memory. Errors are the device's.
  static absl::StatusOr<std::unique_ptr<CacheFlush>> Create(Device* device);

  // Queues it.
  absl::Status Queue();

 private:
  CacheFlush() = default;

  std::unique_ptr<Buffer> zeros_;
  std::unique_ptr<Function> read_;
  LaunchShape shape_;
};

}  // namespace telemetry::worker::tune
