#pragma once

#include "absl/types/span.h"
#include "worker/tune/measure/sampler.h"

namespace telemetry::worker::tune::measure {

// Detects samples that were taken at a low clock, compared with the best clock that this process has seen.
class ClockWatch {
 public:
  // A clock below this fraction of the best clock is low. Two stamps determine the clock to about 1 %. A clock that is
  // lowered for power or heat loses more than 5 %.
  static constexpr double kLow = 0.95;

  // Updates the best clock with the median of samples that were taken one after another. The clock of a short sample is
  // too noisy, so at least kEnough samples are needed, or kLongMs in total.
  static constexpr size_t kEnough = 3;
  static constexpr double kLongMs = 1;
  void Learn(absl::Span<const Sample> samples);
  // Returns false if the sample's clock is not known.
  bool IsLow(const Sample& sample) const;
  // Returns the least time that the sample would have needed at the best clock: no kernel's speed grows faster than the
  // clock. The sample's own time if its clock is not low.
  double LeastMs(const Sample& sample) const;

 private:
  double best_mhz_ = 0;
};

}  // namespace telemetry::worker::tune::measure
