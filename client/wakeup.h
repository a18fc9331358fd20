#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/steady.h"

namespace telemetry::client {

// An event that any thread sets and one thread waits for. A Notify() before the wait is not lost, so that the waiter
// only needs to check the shared state after each wait. Thread-safe.
class Wakeup {
 public:
  void Notify() {
    absl::MutexLock lock(&mutex_);
    notified_ = true;
    notification_.NotifyAll();
  }

  // Blocks until Notify() has been called since the last wait, or until `deadline`.
  void WaitUntil(SteadyTime deadline) {
    absl::MutexLock lock(&mutex_);
    notification_.Await(mutex_, deadline, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return notified_; });
    notified_ = false;
  }

 private:
  absl::Mutex mutex_;
  bool notified_ ABSL_GUARDED_BY(mutex_) = false;
  SteadyCondition notification_;
};

}  // namespace telemetry::client
