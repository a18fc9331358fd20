#pragma once

#include <algorithm>
#include <chrono>

#include "absl/time/time.h"

namespace telemetry::worker::tune {

// A point in time that setting the machine's clock does not move.
class Deadline {
 public:
  // An endless `timeout` is allowed.
  explicit Deadline(absl::Duration timeout)
      : at_(Clock::now() + absl::ToChronoNanoseconds(std::min(timeout, absl::Hours(24 * 365)))) {}

  bool IsOver() const { return Clock::now() >= at_; }

  // What is left, for poll(2): rounded up, so that a wait never ends early only to begin again.
  int PollMs() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(at_ - Clock::now());
    return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left.count(), 0, 1 << 30));
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point at_;
};

}  // namespace telemetry::worker::tune
