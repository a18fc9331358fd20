#pragma once

#include <chrono>
#include <condition_variable>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace telemetry {

using SteadyTime = std::chrono::steady_clock::time_point;

inline constexpr SteadyTime kLongAgo = SteadyTime::min();
inline constexpr SteadyTime kNever = SteadyTime::max();

inline SteadyTime SteadyNow() { return std::chrono::steady_clock::now(); }

inline absl::Duration ElapsedSince(SteadyTime time) { return absl::FromChrono(SteadyNow() - time); }
inline absl::Duration TimeUntil(SteadyTime time) { return absl::FromChrono(time - SteadyNow()); }

// `duration` from now; kNever where the clock does not count so far, and now for a duration below zero.
SteadyTime SteadyAfter(absl::Duration duration);

// Waits for what a mutex guards, as absl::Mutex::AwaitWithDeadline does, but whoever changes it has to say so.
// Thread-safe.
class SteadyCondition {
 public:
  // To be called with the waiters' mutex held, when a waiter may destroy the condition as soon as it goes on.
  void NotifyAll() { changed_.notify_all(); }

  // Lets go of `mutex` until `predicate` holds, at the latest at `deadline`; whether it holds then.
  template <typename Predicate>
  bool Await(absl::Mutex& mutex, SteadyTime deadline, Predicate predicate) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    Lockable lockable{mutex};
    return changed_.wait_until(lockable, deadline, std::move(predicate));
  }

 private:
  // The standard's names for an absl::Mutex.
  struct Lockable {
    void lock() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex.Lock(); }
    void unlock() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex.Unlock(); }
    absl::Mutex& mutex;
  };

  std::condition_variable_any changed_;
};

}  // namespace telemetry
