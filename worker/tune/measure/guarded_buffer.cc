#include "worker/tune/measure/guarded_buffer.h"

#include <utility>

namespace telemetry::worker::tune {

absl::StatusOr<GuardedBuffer> GuardedBuffer::Create(Device* device, size_t size_bytes) {
  static_assert(kZoneBytes % kViewAlignment == 0, "the body begins after a zone");
  absl::StatusOr<std::unique_ptr<Buffer>> all = device->Allocate(size_bytes + 2 * kZoneBytes);
  if (!all.ok()) return all.status();
  absl::StatusOr<std::unique_ptr<Buffer>> body = device->View(all->get(), kZoneBytes, size_bytes);
  if (!body.ok()) return body.status();
  GuardedBuffer buffer(*std::move(all), *std::move(body));
  if (absl::Status status = buffer.Mend(device); !status.ok()) return status;
  return buffer;
}

}  // namespace telemetry::worker::tune
