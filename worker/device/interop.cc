#include "worker/device/interop.h"

#include "proto/record/strings.h"

namespace telemetry::worker::device {

absl::StatusOr<Interop*> InteropOf(Device& device) {
  if (auto* interop = dynamic_cast<Interop*>(&device); interop != nullptr) return interop;
  return absl::UnimplementedError(record::Cat("device ", device.id(), " cannot use memory of the program"));
}

}  // namespace telemetry::worker::device
