#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "proto/clock/steady.h"

namespace telemetry::client {

// One thread waits, any thread wakes it. A call of Notify before the wait begins is not lost, so the waiter looks at
// the world after each wait and need not know who called. Thread-safe.
class Wakeup {
 public:
  void Notify() {
    absl::MutexLock lock(&mu_);
    notified_ = true;
    notification_.NotifyAll();
  }

  // Returns after a Notify since the last wait, or at `deadline`.
  void WaitUntil(SteadyTime deadline) {
    absl::MutexLock lock(&mu_);
    notification_.Await(mu_, deadline, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return notified_; });
    notified_ = false;
  }

 private:
  absl::Mutex mu_;
  bool notified_ ABSL_GUARDED_BY(mu_) = false;
  SteadyCondition notification_;
};

}  // namespace telemetry::client
