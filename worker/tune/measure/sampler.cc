#include "worker/tune/measure/sampler.h"

#include <utility>

namespace telemetry::worker::tune {
absl::StatusOr<std::unique_ptr<Sampler>> Sampler::Create(std::shared_ptr<Device> device) {
  absl::StatusOr<std::unique_ptr<ClockStamps>> stamps = ClockStamps::Create(device);
  if (!stamps.ok()) return stamps.status();
  absl::StatusOr<std::unique_ptr<CacheFlush>> flush = CacheFlush::Create(device.get());
  if (!flush.ok()) return flush.status();
  return std::unique_ptr<Sampler>(new Sampler(std::move(device), *std::move(stamps), *std::move(flush)));
}

absl::Status Sampler::Stamp(int index) { return stamps_ == nullptr ? absl::OkStatus() : stamps_->Stamp(index); }

absl::StatusOr<Sampler::Interval> Sampler::Queue(int index, const Launch& launch) {
  if (absl::Status status = flush_->Queue(); !status.ok()) return status;
  if (absl::Status status = Stamp(index); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<Event>> begin = device_->Record();
  if (!begin.ok()) return begin.status();
  if (absl::Status status = launch(); !status.ok()) return status;
  absl::StatusOr<std::unique_ptr<Event>> end = device_->Record();
  if (!end.ok()) return end.status();
  return Interval{.begin = *std::move(begin), .end = *std::move(end)};
}

absl::Status Sampler::ReadClocks(std::vector<Sample>* samples) {
  if (stamps_ == nullptr) return absl::OkStatus();
  const absl::StatusOr<std::vector<double>> rates = stamps_->RatesMhz(static_cast<int>(samples->size()));
  if (!rates.ok()) return rates.status();
  for (size_t i = 0; i < samples->size(); ++i) (*samples)[i].clock_mhz = (*rates)[i];
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Sample>> Sampler::Take(absl::Span<const Launch> launches) {
  std::vector<Interval> intervals;
  for (const Launch& launch : launches) {
    absl::StatusOr<Interval> interval = Queue(static_cast<int>(intervals.size()), launch);
    if (!interval.ok()) return interval.status();
    intervals.push_back(*std::move(interval));
  }
  if (absl::Status status = Stamp(static_cast<int>(intervals.size())); !status.ok()) return status;
  if (absl::Status status = device_->Synchronize(); !status.ok()) return status;
  std::vector<Sample> samples;
  for (const Interval& interval : intervals) {
    const absl::StatusOr<double> ms = device_->ElapsedMs(*interval.begin, *interval.end);
    if (!ms.ok()) return ms.status();
    samples.push_back({.ms = *ms});
  }
  if (absl::Status status = ReadClocks(&samples); !status.ok()) return status;
  return samples;
}

}  // namespace telemetry::worker::tune
