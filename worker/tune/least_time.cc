#include "worker/tune/least_time.h"

namespace telemetry::worker::tune {

double LeastMs(int64_t loaded_bytes, const device::DeviceProperties& device) {
  constexpr double kMostBytesInCycle = 128;
  if (device.dialect != device::Dialect::kCuda || device.clock_khz <= 0 || device.compute_units <= 0) return 0;
  return static_cast<double>(loaded_bytes) / (kMostBytesInCycle * device.compute_units * device.clock_khz);
}

}  // namespace telemetry::worker::tune
