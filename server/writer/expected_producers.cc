#include "server/writer/expected_producers.h"

#include <algorithm>

namespace telemetry::writer {

void ExpectedProducers::Add(const std::string& producer_id, SteadyTime now) {
  added_.insert_or_assign(producer_id, now);
}

void ExpectedProducers::Forget(SteadyTime now) {
  absl::erase_if(added_, [now](const auto& producer) { return absl::FromChrono(now - producer.second) > kFor; });
}

absl::Duration ExpectedProducers::WaitWith(size_t batches) const {
  if (added_.empty()) return absl::ZeroDuration();
  const size_t missing = added_.size() - std::min(batches, added_.size());
  const double share = static_cast<double>(missing) / static_cast<double>(added_.size());
  return std::max(kShortestWait, share * kLongestWait);
}

}  // namespace telemetry::writer
