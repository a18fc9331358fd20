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

namespace telemetry::worker::tune::measure {

// The time of one launch on the device.
struct Sample {
  double ms = 0;
  double clock_mhz = 0;  // 0: not known
};

// Measures launches. A kernel that runs repeatedly finds its inputs in the L2 cache, but the first call in a real
// program does not. Each sample therefore begins with a cache flush (cache_flush.h), unless the caller wants warm
// caches. A clock stamp (clock_stamps.h), an event, the launch and an event follow. The host does not wait in between,
// but queues few samples at once: on an H200, all samples of a long queue except the last three take 0.3 to 0.9 us
// more.
class Sampler {
 public:
  using Launch = std::function<absl::Status()>;  // queues one launch
  enum class Caches { kFlushed, kWarm };

  // Returns the device's errors.
  static absl::StatusOr<std::unique_ptr<Sampler>> Create(std::shared_ptr<device::Device> device);

  // Takes one sample of each launch, in this order, and blocks until they are done. Returns the errors of the launches
  // and of the device.
  absl::StatusOr<std::vector<Sample>> Take(absl::Span<const Launch> launches, Caches caches = Caches::kFlushed);

 private:
  struct Interval {
    std::unique_ptr<device::Event> begin;
    std::unique_ptr<device::Event> end;
  };

  Sampler(std::shared_ptr<device::Device> device, std::unique_ptr<ClockStamps> stamps)
      : device_(std::move(device)), stamps_(std::move(stamps)) {}

  // Queues the launches at once and appends their samples.
  absl::Status TakeQueued(absl::Span<const Launch> launches, Caches caches, std::vector<Sample>* samples);
  absl::Status Flush();
  absl::Status Stamp(int index);
  absl::StatusOr<Interval> Queue(int index, const Launch& launch, Caches caches);
  absl::Status ReadClocks(absl::Span<Sample> samples);

  const std::shared_ptr<device::Device> device_;
  const std::unique_ptr<ClockStamps> stamps_;  // null: the device has no counters
  std::unique_ptr<CacheFlush> flush_;          // null: no sample needed it yet
};

}  // namespace telemetry::worker::tune::measure
