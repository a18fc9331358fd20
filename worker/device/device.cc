#include "worker/device/device.h"

#include "absl/strings/str_cat.h"

namespace telemetry::worker::device {

absl::Status Module::SetVariable(const std::string& name, absl::Span<const std::byte> /*bytes*/) {
  return absl::UnimplementedError(absl::StrCat("the module has no variables to set; asked for \"", name, "\""));
}

std::string DeviceId(const DeviceProperties& properties) {
  return absl::StrCat(properties.dialect == Dialect::kCuda ? "cuda:" : "opencl:", properties.ordinal);
}

}  // namespace telemetry::worker::device
