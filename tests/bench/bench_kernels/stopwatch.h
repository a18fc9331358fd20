#pragma once

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/device/device.h"
#include "worker/tune/measure/cache_flush.h"

namespace telemetry::bench {

// Times what is queued on a device. A kernel that runs again and again finds its inputs in the L2 cache, where the
// first call of a real program does not; so each sample comes after the tuner's flush of that cache. The flush also
// keeps the device busy while the launch is queued: what is measured between the events is the device's time, without
// the host's.
class Stopwatch {
 public:
  static absl::StatusOr<Stopwatch> Create(std::shared_ptr<worker::Device> device, int samples);

  // Median of the samples, in milliseconds, after some calls to warm up. `queue` queues once.
  absl::StatusOr<double> MedianMs(const std::function<absl::Status()>& queue);

  // Bytes per second of copies inside the device's memory that read and write so many bytes together.
  absl::StatusOr<double> CopyBandwidth(int64_t bytes);

 private:
  Stopwatch(std::shared_ptr<worker::Device> device, int samples, std::shared_ptr<worker::tune::CacheFlush> flush)
      : device_(std::move(device)), samples_(samples), flush_(std::move(flush)) {}

  absl::StatusOr<double> SampleMs(const std::function<absl::Status()>& queue);

  std::shared_ptr<worker::Device> device_;
  int samples_;
  std::shared_ptr<worker::tune::CacheFlush> flush_;
};

}  // namespace telemetry::bench
