#pragma once

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/tune/measure/cache_flush.h"

namespace telemetry::bench {

// Times work that is queued on a device. A kernel that runs repeatedly finds its inputs in the L2 cache, unlike the
// first call in a real program; each sample is therefore preceded by the tuner's flush of that cache. The flush also
// keeps the device busy while the host queues the launch, so the events measure the time of the device without the time
// of the host.
class Stopwatch {
 public:
  static absl::StatusOr<Stopwatch> Create(std::shared_ptr<worker::device::Device> device, int samples);

  // Returns the median of the samples in milliseconds, after a few warm-up calls. `queue` queues the work once.
  absl::StatusOr<double> MedianMs(const std::function<absl::Status()>& queue);

  // Returns the bytes per second of copies within device memory that read and write `bytes` bytes in total.
  absl::StatusOr<double> CopyBandwidth(int64_t bytes);

 private:
  Stopwatch(std::shared_ptr<worker::device::Device> device, int samples,
            std::shared_ptr<worker::tune::measure::CacheFlush> flush)
      : device_(std::move(device)), samples_(samples), flush_(std::move(flush)) {}

  absl::StatusOr<double> SampleMs(const std::function<absl::Status()>& queue);

  std::shared_ptr<worker::device::Device> device_;
  int samples_;
  std::shared_ptr<worker::tune::measure::CacheFlush> flush_;
};

}  // namespace telemetry::bench
