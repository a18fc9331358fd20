#include "worker/tune/measure/sample_series.h"

#include <algorithm>
#include <cmath>

#include "worker/tune/measure/measure_request.h"
#include "worker/tune/measure/sample_statistics.h"

namespace telemetry::worker::tune::measure {
namespace {

constexpr double kBatchMs = 100;
constexpr int kMostOfABatch = 32;
// The time of samples after which the allowed error has doubled: a slow kernel would use many times as much time for
// the same precision as a fast one.
constexpr absl::Duration kPatience = absl::Milliseconds(4);
// The longest usual time for reading the code, which is a part of the first run: on H200s more than nine of ten first
// runs were longer than a sample by less than this.
constexpr double kReadingMs = 0.2;

// The relative standard error at which the median of a config that is far from the best is known well enough. Four
// standard errors must fit between the median and `far_above_ms`. The time is also a sample for cost models, so the
// error is at most 3%; less than 1% is not needed.
double FarPrecision(double median_ms, double far_above_ms) {
  return std::clamp((1 - far_above_ms / median_ms) / 4, 0.01, 0.03);
}

std::vector<double> SampleTimes(absl::Span<const Sample> samples) {
  std::vector<double> times_ms;
  for (const Sample& sample : samples) times_ms.push_back(sample.ms);
  return times_ms;
}

double MedianClock(absl::Span<const Sample> samples) {
  std::vector<double> known;
  for (const Sample& sample : samples) {
    if (sample.clock_mhz > 0) known.push_back(sample.clock_mhz);
  }
  return known.empty() ? 0 : Median(known);
}

}  // namespace

// Returns true if the first run took longer than the limit, even without the time for reading the code.
bool SampleSeries::RanSlowly() const { return first_run_ms_ > effort_.give_up_above_ms() + kReadingMs; }

bool SampleSeries::GaveUp() const {
  if (all_.empty() || effort_.exact()) return false;
  const double limit_ms = effort_.give_up_above_ms();
  const double fastest_ms = *std::min_element(least_ms_.begin(), least_ms_.end());
  if (fastest_ms <= limit_ms) return false;
  // One sample may be slow by chance, but not by a factor of two. Neither are a first run and a sample of about the
  // same time.
  return all_.size() >= kScreening || fastest_ms > 2 * limit_ms || (RanSlowly() && first_run_ms_ < 2 * fastest_ms);
}

// Returns the samples that count or, if these are too few, the least times of all samples.
absl::Span<const double> SampleSeries::Decisive() const {
  return counted_ms_.size() >= kScreening ? counted_ms_ : least_ms_;
}

bool SampleSeries::IsFar() const {
  return effort_.far_above_ms() > 0 && all_.size() >= kScreening && Median(Decisive()) > effort_.far_above_ms();
}

// Returns true if the config is far from the best, and its time is known well enough for such a config.
bool SampleSeries::IsKnownToBeFar() const {
  return IsFar() && RelativeErrorOfMedian(Decisive()) <= FarPrecision(Median(Decisive()), effort_.far_above_ms());
}

bool SampleSeries::IsThrottledThroughout() const {
  const auto most_dropped = static_cast<size_t>(std::max(2 * effort_.min_samples(), 2 * kScreening));
  return all_.size() - counted_ms_.size() >= most_dropped && counted_ms_.size() < most_dropped / 2;
}

int SampleSeries::BatchSize(double sample_ms, absl::Duration left) const {
  const double room_ms = std::min(kBatchMs, std::max(absl::ToDoubleMilliseconds(left), 0.0));
  const double fitting = std::min(room_ms / std::max(sample_ms, 1e-3), static_cast<double>(kMostOfABatch));
  return std::max(1, static_cast<int>(fitting));
}

int SampleSeries::Next(absl::Duration elapsed) const {
  const auto counted = static_cast<int>(counted_ms_.size());
  if (GaveUp() || IsThrottledThroughout()) return 0;
  if (effort_.exact()) {
    return counted >= effort_.max_samples()
               ? 0
               : std::min(effort_.max_samples() - counted, BatchSize(first_run_ms_, absl::Milliseconds(kBatchMs)));
  }
  if (all_.size() < kScreening) {
    const int missing = all_.empty() && RanSlowly() ? 1 : kScreening - static_cast<int>(all_.size());
    return std::min(missing, BatchSize(first_run_ms_, absl::Milliseconds(kBatchMs)));
  }
  if (IsKnownToBeFar()) return 0;
  const absl::Duration budget = absl::Milliseconds(effort_.budget_ms());
  if (counted >= kScreening && (elapsed >= budget || counted >= effort_.max_samples())) return 0;
  const bool is_far = IsFar();
  const double precision = effort_.precision() * (1 + absl::FDivDuration(elapsed, kPatience));
  const int least = is_far ? kScreening : effort_.min_samples();
  const double error = RelativeErrorOfMedian(counted_ms_);
  if (counted >= least && error <= precision) return 0;
  // The error falls with the square root of the number. Few samples at once are enough for a config that is far.
  const double needed = is_far || counted < least ? least : counted * std::pow(error / precision, 2);
  // The allowed error grows while samples are taken, so that their number at most doubles before the next decision.
  const double most = std::max(1, std::min(effort_.max_samples() - counted, std::max(counted, least - counted)));
  const double missing = std::clamp(needed - counted, std::min<double>(kScreening, most), most);
  const double sample_ms = absl::ToDoubleMilliseconds(elapsed) / static_cast<double>(all_.size());
  return std::min(static_cast<int>(missing), BatchSize(sample_ms, budget - elapsed));
}

void SampleSeries::Add(absl::Span<const Sample> samples, const ClockWatch& watch) {
  for (const Sample& sample : samples) {
    all_.push_back(sample);
    least_ms_.push_back(watch.LeastMs(sample));
    if (!watch.IsLow(sample)) counted_ms_.push_back(sample.ms);
  }
}

void SampleSeries::Describe(wire::Outcome* outcome) const {
  const bool has_few = counted_ms_.empty() || (IsKnownToBeFar() && counted_ms_.size() < kScreening);
  const bool throughout = has_few || IsThrottledThroughout();
  const std::vector<double> times_ms = throughout ? SampleTimes(all_) : counted_ms_;
  outcome->mutable_samples_ms()->Assign(times_ms.begin(), times_ms.end());
  outcome->set_throttled_throughout(throughout && !all_.empty());
  outcome->set_dropped_throttled(static_cast<int>(all_.size() - times_ms.size()));
  outcome->set_sm_clock_mhz(MedianClock(all_));
  outcome->set_gave_up(GaveUp());
  if (!outcome->gave_up() && !times_ms.empty()) outcome->set_perf_ms(Median(times_ms));
}

void DescribeSamples(absl::Span<const Sample> samples, wire::Outcome* outcome) {
  const std::vector<double> times_ms = SampleTimes(samples);
  outcome->mutable_samples_ms()->Assign(times_ms.begin(), times_ms.end());
  outcome->set_sm_clock_mhz(MedianClock(samples));
  if (!times_ms.empty()) outcome->set_perf_ms(Median(times_ms));
}

}  // namespace telemetry::worker::tune::measure
