#pragma once

#include "absl/random/random.h"
#include "absl/time/time.h"

namespace telemetry::client {

// Pauses between attempts: each drawn evenly from zero up to a bound that doubles until it reaches the cap ("full
// jitter"), so that a thousand producers that lost one collector do not come back in step. Not thread-safe.
class Backoff {
 public:
  Backoff(absl::Duration first, absl::Duration cap) : first_(first), cap_(cap), bound_(first) {}

  absl::Duration Next();
  // After a success the pauses are short again.
  void Reset() { bound_ = first_; }

 private:
  const absl::Duration first_;
  const absl::Duration cap_;
  absl::Duration bound_;
  absl::BitGen random_;
};

}  // namespace telemetry::client
