#pragma once

#include "absl/types/span.h"
#include "worker/tune/measure/sampler.h"

namespace telemetry::worker::tune {

// Which samples were taken while the clock was low, compared with the best that this process has seen.
class ClockWatch {
 public:
  // A clock below this part of the best is low. Two stamps tell it to about a hundredth; clocks that are lowered for
  // power or heat lose more.
  static constexpr double kLow = 0.95;

  // Learns from samples that were taken one after another: from their median, for single stamps are noisy.
  void Learn(absl::Span<const Sample> samples);
  // False where the clock is not known.
  bool IsLow(const Sample& sample) const;

 private:
  double best_mhz_ = 0;
};

}  // namespace telemetry::worker::tune
