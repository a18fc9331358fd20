#include "client/backoff.h"

#include <algorithm>

namespace telemetry::client {

absl::Duration Backoff::Next() {
  const absl::Duration pause = bound_ * absl::Uniform(random_, 0.0, 1.0);
  bound_ = std::min(cap_, bound_ * 2);
  return pause;
}

}  // namespace telemetry::client
