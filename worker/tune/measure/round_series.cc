#include "worker/tune/measure/round_series.h"

#include <algorithm>

#include "worker/tune/measure/sample_series.h"

namespace telemetry::worker::tune::measure {
namespace {

constexpr size_t kMostSamplesOfBatch = 32;
constexpr int kRestFactor = 3;  // the device then works a quarter of the time

}  // namespace

int RoundSeries::Next() const {
  if (counted_.size() >= wanted_ || IsThrottledThroughout() || configs_ == 0) return 0;
  const size_t at_once = std::max<size_t>(1, kMostSamplesOfBatch / configs_);
  return static_cast<int>(std::min(wanted_ - counted_.size(), at_once));
}

void RoundSeries::Add(absl::Span<const Sample> samples, const ClockWatch& watch) {
  was_low_ = false;
  for (size_t begin = 0; begin + configs_ <= samples.size(); begin += configs_) {
    const absl::Span<const Sample> round = samples.subspan(begin, configs_);
    const bool is_low = std::any_of(round.begin(), round.end(), [&](const Sample& s) { return watch.IsLow(s); });
    (is_low ? dropped_ : counted_).emplace_back(round.begin(), round.end());
    was_low_ = was_low_ || is_low;
  }
}

absl::Duration RoundSeries::Rest(absl::Duration took) {
  if (!was_low_) return absl::ZeroDuration();
  const absl::Duration rest = std::min(kRestFactor * took, kMostRest - rested_);
  rested_ += rest;
  return rest;
}

void RoundSeries::Describe(size_t config, wire::Outcome* outcome) const {
  const bool throughout = IsThrottledThroughout();
  std::vector<Sample> samples;
  for (const std::vector<Sample>& round : counted_) samples.push_back(round[config]);
  for (const std::vector<Sample>& round : dropped_) {
    if (throughout) samples.push_back(round[config]);
  }
  outcome->set_throttled_throughout(throughout);
  outcome->set_dropped_throttled(throughout ? 0 : static_cast<int>(dropped_.size()));
  DescribeSamples(samples, outcome);
}

}  // namespace telemetry::worker::tune::measure
