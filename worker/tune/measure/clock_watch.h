#pragma once

#include "absl/types/span.h"
#include "worker/tune/measure/sampler.h"

namespace telemetry::worker::tune::measure {

// Detects samples that were taken at a low clock, compared with the best clock that this process has seen.
class ClockWatch {
 public:
  // A clock below this fraction of the best clock is low. A clock that is lowered for power or heat loses more than 5%.
  static constexpr double kLow = 0.95;

  // Updates the best clock with the median of samples that were taken one after another. The two stamps around a short
  // sample determine its clock to about 1%. A maximum collects such errors, so one or two samples must take kLongMs in
  // total, after which the error of the stamps is less than 0.1%.
  static constexpr size_t kEnough = 3;
  static constexpr double kLongMs = 1;
  void Learn(absl::Span<const Sample> samples);
  // Returns false if the sample's clock is not known.
  bool IsLow(const Sample& sample) const;
  // Returns the least time that the sample would have needed at the best clock: no kernel's speed grows faster than the
  // clock. Returns the sample's own time if its clock is not low.
  double LeastMs(const Sample& sample) const;

 private:
  double best_mhz_ = 0;
};

}  // namespace telemetry::worker::tune::measure
