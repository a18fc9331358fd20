#pragma once

#include <chrono>
#include <condition_variable>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace telemetry {

// A time of the steady clock, with sentinels before and after every other time.
using SteadyTime = std::chrono::steady_clock::time_point;

inline constexpr SteadyTime kLongAgo = SteadyTime::min();
inline constexpr SteadyTime kNever = SteadyTime::max();

inline SteadyTime SteadyNow() { return std::chrono::steady_clock::now(); }

inline absl::Duration ElapsedSince(SteadyTime time) { return absl::FromChrono(SteadyNow() - time); }
inline absl::Duration TimeUntil(SteadyTime time) { return absl::FromChrono(time - SteadyNow()); }

// Returns the time `duration` from now, kNever if that time exceeds the clock's range, and now for a negative duration.
SteadyTime SteadyAfter(absl::Duration duration);

// A condition variable on the steady clock. Await() waits for a predicate as absl::Mutex::AwaitWithDeadline() does, but
// the thread that changes the guarded state must call NotifyAll(). Thread-safe.
class SteadyCondition {
 public:
  // Wakes all waiters. The caller must hold the waiters' mutex if a waiter may destroy the condition as soon as it
  // continues.
  void NotifyAll() { changed_.notify_all(); }

  // Releases `mutex` until `predicate` holds or until `deadline`. Returns the value of `predicate` then.
  template <typename Predicate>
  bool Await(absl::Mutex& mutex, SteadyTime deadline, Predicate predicate) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    Lockable lockable{mutex};
    return changed_.wait_until(lockable, deadline, std::move(predicate));
  }

 private:
  // Adapts an absl::Mutex to the method names of the standard library.
  struct Lockable {
    void lock() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex.Lock(); }
    void unlock() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex.Unlock(); }
    absl::Mutex& mutex;
  };

  std::condition_variable_any changed_;
};

}  // namespace telemetry
