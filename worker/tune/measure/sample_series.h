#pragma once

#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "worker/tune/measure/clock_watch.h"
#include "worker/tune/measure/measure.pb.h"
#include "worker/tune/measure/sampler.h"

namespace telemetry::worker::tune::measure {

// Decides how many samples a config gets and which of them count. Reads no clock: the caller passes the time.
class SampleSeries {
 public:
  explicit SampleSeries(const wire::Effort& effort) : effort_(effort) {}

  // Returns the number of samples to take next, `elapsed` after the first batch began; 0: there are enough. A batch
  // takes at most 0.1 seconds, or has one sample. `estimate_ms` is the expected time of a sample, used until there is
  // one.
  int Next(absl::Duration elapsed, double estimate_ms) const;

  // Adds samples. `watch` decides which of them were taken at a low clock.
  void Add(absl::Span<const Sample> samples, const ClockWatch& watch);

  // Writes the samples, their median, the clock and the numbers of dropped samples to `outcome`.
  void Describe(wire::Outcome* outcome) const;

 private:
  // The number of samples that a first decision needs.
  static constexpr int kScreening = 3;

  bool GaveUp() const;
  bool IsFar() const;
  bool IsThrottledThroughout() const;
  int BatchSize(double sample_ms, absl::Duration left) const;

  const wire::Effort effort_;
  std::vector<Sample> all_;
  std::vector<double> counted_ms_;  // of the samples that are not low
};

// Writes samples to `outcome` as SampleSeries::Describe does. All samples count.
void DescribeSamples(absl::Span<const Sample> samples, wire::Outcome* outcome);

}  // namespace telemetry::worker::tune::measure
