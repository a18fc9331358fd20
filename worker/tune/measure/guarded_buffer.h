#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/device.h"

namespace telemetry::worker::tune::measure {

// A buffer in device memory between two red zones. A kernel that writes beyond its tensor damages a red zone instead of
// another buffer, unless it writes more than the size of a zone away.
class GuardedBuffer {
 public:
  static constexpr int64_t kZoneBytes = 64 << 10;
  static constexpr uint8_t kZoneByte = 0xc3;

  // Allocates the buffer with intact zones; the body is not initialised. Returns the device's errors.
  static absl::StatusOr<GuardedBuffer> Create(device::Device* device, size_t size_bytes);

  // Returns the part that kernels get, of the requested size.
  device::Buffer* body() const { return body_.get(); }

  // Returns the memory with both zones. The body is the range [begin(), end()) of [0, all_bytes()).
  const device::Buffer* all() const { return all_.get(); }
  int64_t all_bytes() const { return static_cast<int64_t>(all_->size_bytes()); }
  int64_t begin() const { return kZoneBytes; }
  int64_t end() const { return kZoneBytes + static_cast<int64_t>(body_->size_bytes()); }

  // Queues the restoration of the zones. Overwrites the body.
  absl::Status Mend(device::Device* device) { return device->Fill(all_.get(), kZoneByte); }

 private:
  GuardedBuffer(std::unique_ptr<device::Buffer> all, std::unique_ptr<device::Buffer> body)
      : all_(std::move(all)), body_(std::move(body)) {}

  std::unique_ptr<device::Buffer> all_;
  std::unique_ptr<device::Buffer> body_;
};

}  // namespace telemetry::worker::tune::measure
