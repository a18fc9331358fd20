#include "worker/device/device.h"

#include "absl/strings/str_cat.h"

namespace telemetry::worker::device {

std::string DeviceId(const DeviceProperties& properties) {
  return absl::StrCat(properties.dialect == Dialect::kCuda ? "cuda:" : "opencl:", properties.ordinal);
}

}  // namespace telemetry::worker::device
