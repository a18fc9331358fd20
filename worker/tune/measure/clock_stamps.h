#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/device.h"

namespace telemetry::worker::tune::measure {

// Measures a GPU's clock around each sample. The clock is not constant: it rises when work arrives and falls when power
// or temperature approach their limits. The time of a kernel changes with it, by a quarter and more, and the time alone
// does not show if the config or the clock was slow. Each sample is therefore taken between two stamps. A stamp is a
// kernel of one thread that stores the multiprocessor's cycle counter and the nanosecond timer. The cycles divided by
// the nanoseconds from one stamp to the next are the clock during the sample.
//
// A stamp also keeps the stream busy for some microseconds. The host queues the event, the launch and the second event
// during this time, so the sample does not contain the host's time for launching.
class ClockStamps {
 public:
  static constexpr int kMostStamps = 8;  // that are queued before RatesMhz

  // Returns null for a device without such counters (OpenCL). Returns the device's errors.
  static absl::StatusOr<std::unique_ptr<ClockStamps>> Create(std::shared_ptr<device::Device> device);

  // Queues stamp number `index`, which must be below kMostStamps.
  absl::Status Stamp(int index);

  // Blocks until the stamps have run. Returns the clock between stamps i and i + 1 in MHz for the first `count` pairs;
  // 0 if it is not known, because the two stamps ran on different multiprocessors.
  absl::StatusOr<std::vector<double>> RatesMhz(int count);

 private:
  ClockStamps(std::shared_ptr<device::Device> device, std::unique_ptr<device::Function> stamp,
              std::unique_ptr<device::Buffer> stamps)
      : device_(std::move(device)), stamp_(std::move(stamp)), stamps_(std::move(stamps)) {}

  const std::shared_ptr<device::Device> device_;
  const std::unique_ptr<device::Function> stamp_;
  const std::unique_ptr<device::Buffer> stamps_;
};

}  // namespace telemetry::worker::tune::measure
