#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "absl/time/time.h"
#include "proto/base/steady.h"

namespace telemetry::call {

// The CPU time that a thread of events has used since its last event.
class ThreadProgress {
 public:
  // Called by the thread at each event.
  void AddEvent() { ++events_; }

  // Returns the CPU time that `thread` has used since its last event; zero while it mostly waits. Must be called
  // regularly, by one other thread: the time counts from the first call after the event.
  absl::Duration SinceEvent(std::thread& thread);
  // Returns true if the thread mostly waited between the last two calls of SinceEvent. For the same caller.
  bool is_waiting() const { return is_waiting_; }

 private:
  std::atomic<uint64_t> events_ = 0;
  // Used by the caller of SinceEvent only.
  uint64_t seen_events_ = 0;
  absl::Duration cpu_at_event_;  // CPU time of the thread when seen_events_ was seen first
  absl::Duration seen_cpu_;      // the same at the last call
  SteadyTime seen_at_ = SteadyNow();
  bool is_waiting_ = true;
};

}  // namespace telemetry::call
