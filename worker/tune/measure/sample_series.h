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
  // `first_run_ms` is the time of the run before the samples: the config's first run, whose time may include reading
  // the code, or a warm-up.
  SampleSeries(const wire::Effort& effort, double first_run_ms) : effort_(effort), first_run_ms_(first_run_ms) {}

  // Returns the number of samples to take next, `elapsed` after the first batch began; 0: there are enough. A batch
  // takes at most 0.1 seconds, or has one sample.
  int Next(absl::Duration elapsed) const;

  // Adds samples. `watch` decides which of them were taken at a low clock.
  void Add(absl::Span<const Sample> samples, const ClockWatch& watch);

  // Writes the samples, their median, the clock and the numbers of dropped samples to `outcome`.
  void Describe(wire::Outcome* outcome) const;

 private:
  // The number of samples that show, by the fastest of them, that a config is slower than the limit.
  static constexpr int kScreening = 3;

  bool RanSlowly() const;
  bool GaveUp() const;
  absl::Span<const double> Decisive() const;
  bool IsFar() const;
  bool IsKnownToBeFar() const;
  bool IsThrottledThroughout() const;
  int BatchSize(double sample_ms, absl::Duration left) const;

  const wire::Effort effort_;
  const double first_run_ms_;
  std::vector<Sample> all_;
  std::vector<double> counted_ms_;  // of the samples that are not low
  std::vector<double> least_ms_;    // of all samples: ClockWatch::LeastMs
};

// Writes samples to `outcome` as SampleSeries::Describe does. All samples count.
void DescribeSamples(absl::Span<const Sample> samples, wire::Outcome* outcome);

}  // namespace telemetry::worker::tune::measure
