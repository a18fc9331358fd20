#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace telemetry::client {

// One thread waits, any thread wakes it. A call of Notify before the wait begins is not lost, so the waiter looks at
// the world after each wait and need not know who called. Thread-safe.
class Wakeup {
 public:
  void Notify() {
    absl::MutexLock lock(&mu_);
    notified_ = true;
  }

  // Returns after a Notify since the last wait, or at `deadline`.
  void WaitUntil(absl::Time deadline) {
    absl::MutexLock lock(&mu_);
    mu_.AwaitWithDeadline(absl::Condition(&notified_), deadline);
    notified_ = false;
  }

 private:
  absl::Mutex mu_;
  bool notified_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace telemetry::client
