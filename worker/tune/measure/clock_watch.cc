#include "worker/tune/measure/clock_watch.h"

#include <algorithm>
#include <vector>

#include "worker/tune/measure/sample_statistics.h"

namespace telemetry::worker::tune::measure {

void ClockWatch::Learn(absl::Span<const Sample> samples) {
  std::vector<double> known;
  double known_ms = 0;
  for (const Sample& sample : samples) {
    if (sample.clock_mhz <= 0) continue;
    known.push_back(sample.clock_mhz);
    known_ms += sample.ms;
  }
  if (known.size() >= kEnough || known_ms >= kLongMs) best_mhz_ = std::max(best_mhz_, Median(known));
}

bool ClockWatch::IsLow(const Sample& sample) const {
  return sample.clock_mhz > 0 && sample.clock_mhz < kLow * best_mhz_;
}

double ClockWatch::LeastMs(const Sample& sample) const {
  return IsLow(sample) ? sample.ms * sample.clock_mhz / best_mhz_ : sample.ms;
}

}  // namespace telemetry::worker::tune::measure
