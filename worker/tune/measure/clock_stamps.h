#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/device.h"

namespace telemetry::worker::tune {

// A GPU's clock is not constant: it rises when work arrives and sinks when power or temperature near their limits, and
// a kernel's time with it, by a quarter and more. A time alone does not tell whether the config or the clock was slow.
// So each sample lies between two stamps: a kernel of one thread that writes down the multiprocessor's cycle counter
// next to the nanosecond timer; cycles over nanoseconds from one stamp to the next is the clock while the sample ran.
//
// A stamp also holds the stream busy for some microseconds. What is queued behind it (event, launch, event) is there
// when it ends, so that the sample has none of the host's time for launching in it.
class ClockStamps {
 public:
  static constexpr int kMostStamps = 256;

  // Null on a device that has no such counters (OpenCL). Errors are the device's.
  static absl::StatusOr<std::unique_ptr<ClockStamps>> Create(std::shared_ptr<Device> device);

  // Queues stamp number `index`, below kMostStamps.
  absl::Status Stamp(int index);

  // Waits. The clock between stamp i and stamp i + 1, for the first `count` pairs, in MHz; 0: not known (the stamps ran
  // on different multiprocessors).
  absl::StatusOr<std::vector<double>> RatesMhz(int count);

 private:
  ClockStamps(std::shared_ptr<Device> device, std::unique_ptr<Function> stamp, std::unique_ptr<Buffer> stamps)
      : device_(std::move(device)), stamp_(std::move(stamp)), stamps_(std::move(stamps)) {}

  const std::shared_ptr<Device> device_;
  const std::unique_ptr<Function> stamp_;
  const std::unique_ptr<Buffer> stamps_;
};

}  // namespace telemetry::worker::tune
