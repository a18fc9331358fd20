#pragma once

#include "absl/random/random.h"
#include "absl/time/time.h"

namespace telemetry::client {

// Computes the pauses between attempts. Each pause is drawn uniformly from zero up to a bound that doubles until it
// reaches the cap ("full jitter"). The jitter keeps a thousand producers that lost one collector from reconnecting at
// the same moment. Not thread-safe.
class Backoff {
 public:
  Backoff(absl::Duration first, absl::Duration cap) : first_(first), cap_(cap), bound_(first) {}

  absl::Duration Next();
  // Restores the first bound; to be called after a success.
  void Reset() { bound_ = first_; }

 private:
  const absl::Duration first_;
  const absl::Duration cap_;
  absl::Duration bound_;
  absl::BitGen random_;
};

}  // namespace telemetry::client
