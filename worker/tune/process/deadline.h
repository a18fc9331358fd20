#pragma once

#include <algorithm>
#include <chrono>

#include "absl/time/time.h"

namespace telemetry::worker::tune::process {

// A point in time on a clock that does not change when the system time is set.
class Deadline {
 public:
  // `timeout` may be infinite.
  explicit Deadline(absl::Duration timeout)
      : at_(Clock::now() + absl::ToChronoNanoseconds(std::min(timeout, absl::Hours(24 * 365)))) {}

  bool IsOver() const { return Clock::now() >= at_; }

  // Returns the remaining time for poll(2), rounded up so that a wait does not end just before the deadline.
  int PollMs() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(at_ - Clock::now());
    return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(left.count(), 0, 1 << 30));
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point at_;
};

}  // namespace telemetry::worker::tune::process
