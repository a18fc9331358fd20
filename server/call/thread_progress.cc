#include "server/call/thread_progress.h"

#include <pthread.h>

#include <ctime>

namespace telemetry::call {

absl::Duration ThreadProgress::SinceEvent(std::thread& thread) {
  clockid_t clock = {};
  timespec time = {};
  if (pthread_getcpuclockid(thread.native_handle(), &clock) != 0 || clock_gettime(clock, &time) != 0) {
    return absl::ZeroDuration();
  }
  const absl::Duration cpu = absl::DurationFromTimespec(time);
  const uint64_t events = events_;
  const SteadyTime now = SteadyNow();
  is_waiting_ = 10 * (cpu - seen_cpu_) < absl::FromChrono(now - seen_at_);
  if (events != seen_events_ || is_waiting_) cpu_at_event_ = cpu;
  seen_events_ = events;
  seen_cpu_ = cpu;
  seen_at_ = now;
  return cpu - cpu_at_event_;
}

}  // namespace telemetry::call
