#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "worker/device/device.h"
#include "worker/tune/measure/cache_flush.h"
#include "worker/tune/measure/clock_stamps.h"

namespace telemetry::worker::tune {

// The time of one launch on the device.
struct Sample {
  double ms = 0;
  double clock_mhz = 0;  // 0: not known
};

// Times launches. A kernel that runs again and again finds its inputs in the L2 cache, where the first call of a real
// program does not: so each sample begins with a flush (cache_flush.h). Then come a clock stamp (clock_stamps.h), an
// event, the launch and an event. Nothing waits in between: the device is kept busy while the host queues the next.
class Sampler {
 public:
  using Launch = std::function<absl::Status()>;  // queues once

  // Errors are the device's.
  static absl::StatusOr<std::unique_ptr<Sampler>> Create(std::shared_ptr<Device> device);

  // One sample of each, in this order; at most ClockStamps::kMostStamps - 1. Waits. Errors are the launches' and the
  // device's.
  absl::StatusOr<std::vector<Sample>> Take(absl::Span<const Launch> launches);

 private:
  struct Interval {
    std::unique_ptr<Event> begin;
    std::unique_ptr<Event> end;
  };

  Sampler(std::shared_ptr<Device> device, std::unique_ptr<ClockStamps> stamps, std::unique_ptr<CacheFlush> flush)
      : device_(std::move(device)), stamps_(std::move(stamps)), flush_(std::move(flush)) {}

  absl::Status Stamp(int index);
  absl::StatusOr<Interval> Queue(int index, const Launch& launch);
  absl::Status ReadClocks(std::vector<Sample>* samples);

  const std::shared_ptr<Device> device_;
  const std::unique_ptr<ClockStamps> stamps_;  // null: the device has no counters
  const std::unique_ptr<CacheFlush> flush_;
};

}  // namespace telemetry::worker::tune
