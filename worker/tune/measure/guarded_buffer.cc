#include "worker/tune/measure/guarded_buffer.h"

#include <utility>

#include "proto/base/status_macros.h"

namespace telemetry::worker::tune::measure {

using device::Buffer;

absl::StatusOr<GuardedBuffer> GuardedBuffer::Create(device::Device* device, size_t size_bytes) {
  static_assert(kZoneBytes % device::kViewAlignment == 0, "the body begins after a zone");
  ASSIGN_OR_RETURN(std::unique_ptr<Buffer> all, device->Allocate(size_bytes + 2 * kZoneBytes));
  ASSIGN_OR_RETURN(std::unique_ptr<Buffer> body, device->View(all.get(), kZoneBytes, size_bytes));
  GuardedBuffer buffer(std::move(all), std::move(body));
  RETURN_IF_ERROR(buffer.Mend(device));
  return buffer;
}

}  // namespace telemetry::worker::tune::measure
