#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/device.h"

namespace telemetry::worker::tune {

// Device memory between two red zones: a kernel that writes beyond its tensor damages a zone, and not another buffer,
// unless it misses by more than a zone.
class GuardedBuffer {
 public:
  static constexpr int64_t kZoneBytes = 64 << 10;
  static constexpr uint8_t kZoneByte = 0xc3;

  // Zones intact, the body not initialised. Errors are the device's.
  static absl::StatusOr<GuardedBuffer> Create(Device* device, size_t size_bytes);

  // What kernels get; of the size asked for.
  Buffer* body() const { return body_.get(); }

  // The body and its zones are [0, all_bytes()) of this, the body [begin(), end()).
  const Buffer* all() const { return all_.get(); }
  int64_t all_bytes() const { return static_cast<int64_t>(all_->size_bytes()); }
  int64_t begin() const { return kZoneBytes; }
  int64_t end() const { return kZoneBytes + static_cast<int64_t>(body_->size_bytes()); }

  // Queues: makes the zones whole again; the body is lost.
  absl::Status Mend(Device* device) { return device->Fill(all_.get(), kZoneByte); }

 private:
  GuardedBuffer(std::unique_ptr<Buffer> all, std::unique_ptr<Buffer> body)
      : all_(std::move(all)), body_(std::move(body)) {}

  std::unique_ptr<Buffer> all_;
  std::unique_ptr<Buffer> body_;
};

}  // namespace telemetry::worker::tune
