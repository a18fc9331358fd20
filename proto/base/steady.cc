#include "proto/base/steady.h"

#include <algorithm>

namespace telemetry {

SteadyTime SteadyAfter(absl::Duration duration) {
  const SteadyTime now = SteadyNow();
  if (duration >= absl::FromChrono(kNever - now)) return kNever;
  return now + absl::ToChronoNanoseconds(std::max(duration, absl::ZeroDuration()));
}

}  // namespace telemetry
