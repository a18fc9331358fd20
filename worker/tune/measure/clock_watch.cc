#include "worker/tune/measure/clock_watch.h"

#include <algorithm>
#include <vector>

#include "worker/tune/measure/sample_statistics.h"

namespace telemetry::worker::tune::measure {

void ClockWatch::Learn(absl::Span<const Sample> samples) {
  std::vector<double> known;
  for (const Sample& sample : samples) {
    if (sample.clock_mhz > 0) known.push_back(sample.clock_mhz);
  }
  if (!known.empty()) best_mhz_ = std::max(best_mhz_, Median(known));
}

bool ClockWatch::IsLow(const Sample& sample) const {
  return sample.clock_mhz > 0 && sample.clock_mhz < kLow * best_mhz_;
}

}  // namespace telemetry::worker::tune::measure
