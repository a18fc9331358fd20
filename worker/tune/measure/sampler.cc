#include "worker/tune/measure/sampler.h"

#include <algorithm>
#include <utility>

#include "proto/base/status_macros.h"

namespace telemetry::worker::tune::measure {
namespace {

using device::Event;

constexpr size_t kQueuedAtOnce = 3;  // see Sampler
static_assert(kQueuedAtOnce < ClockStamps::kMostStamps);

}  // namespace

absl::StatusOr<std::unique_ptr<Sampler>> Sampler::Create(std::shared_ptr<device::Device> device) {
  ASSIGN_OR_RETURN(std::unique_ptr<ClockStamps> stamps, ClockStamps::Create(device));
  return std::unique_ptr<Sampler>(new Sampler(std::move(device), std::move(stamps)));
}

absl::Status Sampler::Flush() {
  if (flush_ == nullptr) {
    ASSIGN_OR_RETURN(flush_, CacheFlush::Create(device_.get()));
  }
  return flush_->Queue();
}

absl::Status Sampler::Stamp(int index) { return stamps_ == nullptr ? absl::OkStatus() : stamps_->Stamp(index); }

absl::StatusOr<Sampler::Interval> Sampler::Queue(int index, const Launch& launch, Caches caches) {
  if (caches == Caches::kFlushed) {
    RETURN_IF_ERROR(Flush());
  }
  RETURN_IF_ERROR(Stamp(index));
  ASSIGN_OR_RETURN(std::unique_ptr<Event> begin, device_->Record());
  RETURN_IF_ERROR(launch());
  ASSIGN_OR_RETURN(std::unique_ptr<Event> end, device_->Record());
  return Interval{.begin = std::move(begin), .end = std::move(end)};
}

absl::Status Sampler::ReadClocks(absl::Span<Sample> samples) {
  if (stamps_ == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<double> rates, stamps_->RatesMhz(static_cast<int>(samples.size())));
  for (size_t i = 0; i < samples.size(); ++i) samples[i].clock_mhz = rates[i];
  return absl::OkStatus();
}

absl::Status Sampler::TakeQueued(absl::Span<const Launch> launches, Caches caches, std::vector<Sample>* samples) {
  std::vector<Interval> intervals;
  for (const Launch& launch : launches) {
    ASSIGN_OR_RETURN(Interval interval, Queue(static_cast<int>(intervals.size()), launch, caches));
    intervals.push_back(std::move(interval));
  }
  RETURN_IF_ERROR(Stamp(static_cast<int>(intervals.size())));
  RETURN_IF_ERROR(device_->Synchronize());
  for (const Interval& interval : intervals) {
    ASSIGN_OR_RETURN(const double ms, device_->ElapsedMs(*interval.begin, *interval.end));
    samples->push_back({.ms = ms});
  }
  return ReadClocks(absl::MakeSpan(*samples).last(intervals.size()));
}

absl::StatusOr<std::vector<Sample>> Sampler::Take(absl::Span<const Launch> launches, Caches caches) {
  std::vector<Sample> samples;
  for (; !launches.empty(); launches.remove_prefix(std::min(kQueuedAtOnce, launches.size()))) {
    RETURN_IF_ERROR(TakeQueued(launches.subspan(0, kQueuedAtOnce), caches, &samples));
  }
  return samples;
}

}  // namespace telemetry::worker::tune::measure
