#include "tests/bench/bench_kernels/stopwatch.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/bench/median.h"

namespace telemetry::bench {
namespace {

using worker::device::Buffer;
using worker::device::Device;
using worker::device::Event;
using worker::tune::measure::CacheFlush;

constexpr int kWarmUps = 3;

}  // namespace

absl::StatusOr<Stopwatch> Stopwatch::Create(std::shared_ptr<Device> device, int samples) {
  absl::StatusOr<std::unique_ptr<CacheFlush>> flush = CacheFlush::Create(device.get());
  if (!flush.ok()) return flush.status();
  return Stopwatch(std::move(device), samples, *std::move(flush));
}

absl::StatusOr<double> Stopwatch::SampleMs(const std::function<absl::Status()>& queue) {
  if (absl::Status status = flush_->Queue(); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<Event>> begin = device_->Record();
  if (!begin.ok()) return begin.status();
  if (absl::Status status = queue(); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<Event>> end = device_->Record();
  if (!end.ok()) return end.status();
  return device_->ElapsedMs(**begin, **end);
}

absl::StatusOr<double> Stopwatch::MedianMs(const std::function<absl::Status()>& queue) {
  std::vector<double> samples_ms;
  for (int i = 0; i < kWarmUps + samples_; ++i) {
    absl::StatusOr<double> sample = SampleMs(queue);
    if (!sample.ok()) return sample.status();
    if (i >= kWarmUps) samples_ms.push_back(*sample);
  }
  return Median(std::move(samples_ms));
}

absl::StatusOr<double> Stopwatch::CopyBandwidth(int64_t bytes) {
  const auto half = static_cast<size_t>(std::max<int64_t>(bytes / 2, 1));
  absl::StatusOr<std::unique_ptr<Buffer>> from = device_->Allocate(half);
  if (!from.ok()) return from.status();
  absl::StatusOr<std::unique_ptr<Buffer>> to = device_->Allocate(half);
  if (!to.ok()) return to.status();
  if (absl::Status status = device_->Fill(from->get(), 1); !status.ok()) return status;
  absl::StatusOr<double> ms = MedianMs([&] { return device_->Copy(to->get(), from->get(), half); });
  if (!ms.ok()) return ms.status();
  return 2 * static_cast<double>(half) / (*ms / 1e3);
}

}  // namespace telemetry::bench
