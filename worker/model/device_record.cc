#include "worker/model/device_record.h"

#include <cstdint>

#include "absl/status/statusor.h"
#include "proto/record/json.h"
#include "proto/record/numbers.h"

namespace telemetry::worker::model {
namespace {

using record::Json;

int64_t DeviceNumber(const Json& object, std::string_view key) {
  const Json* const value = object.Find(key);
  return value == nullptr ? 0 : record::ParseInt64(value->text).value_or(0);
}

std::string DeviceText(const Json& object, std::string_view key) {
  const Json* const value = object.Find(key);
  return value == nullptr || value->kind != Json::Kind::kString ? "" : value->text;
}

}  // namespace

std::optional<device::DeviceProperties> ReadDevice(const std::string& environment_json) {
  const absl::StatusOr<Json> environment = record::ParseJson(environment_json);
  const Json* const object = environment.ok() ? environment->Find("device") : nullptr;
  if (object == nullptr || object->kind != Json::Kind::kObject) return std::nullopt;
  device::DeviceProperties device;
  device.name = DeviceText(*object, "name");
  device.architecture = DeviceText(*object, "architecture");
  device.dialect = device.architecture.starts_with("sm_") ? device::Dialect::kCuda : device::Dialect::kOpenCl;
  device.compute_units = static_cast<int>(DeviceNumber(*object, "compute_units"));
  device.global_bytes = static_cast<uint64_t>(DeviceNumber(*object, "global_bytes"));
  device.l2_bytes = static_cast<uint64_t>(DeviceNumber(*object, "l2_bytes"));
  device.clock_khz = static_cast<int>(DeviceNumber(*object, "clock_khz"));
  device.memory_clock_khz = static_cast<int>(DeviceNumber(*object, "memory_clock_khz"));
  device.memory_bus_bits = static_cast<int>(DeviceNumber(*object, "memory_bus_bits"));
  return device;
}

device::DeviceProperties RecordedPart(const device::DeviceProperties& device) {
  return {.dialect = device.dialect,
          .name = device.name,
          .architecture = device.architecture,
          .driver_version = "",
          .runtime_version = "",
          .compute_units = device.compute_units,
          .global_bytes = device.global_bytes,
          .l2_bytes = device.l2_bytes,
          .clock_khz = device.clock_khz,
          .memory_clock_khz = device.memory_clock_khz,
          .memory_bus_bits = device.memory_bus_bits};
}

}  // namespace telemetry::worker::model
