#pragma once

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/clock/steady.h"

namespace telemetry {

// Calls a function each time an interval is over, from a thread of its own, until it is destroyed.
class Periodic {
 public:
  Periodic(absl::Duration interval, std::function<void()> look);
  // Returns when no call is under way and none will come.
  ~Periodic();

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);

  const absl::Duration interval_;
  const std::function<void()> look_;
  absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  SteadyCondition stop_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace telemetry
