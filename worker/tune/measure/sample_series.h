#pragma once

#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "worker/tune/measure/clock_watch.h"
#include "worker/tune/measure/measure.pb.h"
#include "worker/tune/measure/sampler.h"

namespace telemetry::worker::tune {

// How many samples a config gets, and which of them count. Pure: time comes from outside.
class SampleSeries {
 public:
  explicit SampleSeries(const wire::Effort& effort) : effort_(effort) {}

  // How many to take next, `elapsed` after the first batch began; 0: it is enough. A batch takes a tenth of a second,
  // or is of one sample. `estimate_ms`: of a sample, before there is one.
  int Next(absl::Duration elapsed, double estimate_ms) const;

  // What was taken, judged by what `watch` knows of clocks.
  void Add(absl::Span<const Sample> samples, const ClockWatch& watch);

  // Samples, median, clock and how they came about.
  void Describe(wire::Outcome* outcome) const;

 private:
  // As many samples as do for a first judgement.
  static constexpr int kScreening = 3;

  bool GaveUp() const;
  bool IsThrottledThroughout() const;
  int BatchOf(double sample_ms, absl::Duration left) const;

  const wire::Effort effort_;
  std::vector<Sample> all_;
  std::vector<double> counted_ms_;  // of those that are not low
};

// As a series' Describe: all samples count.
void DescribeSamples(absl::Span<const Sample> samples, wire::Outcome* outcome);

}  // namespace telemetry::worker::tune
