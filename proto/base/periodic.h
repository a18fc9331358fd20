#pragma once

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/base/steady.h"

namespace telemetry {

// A thread that calls a function after every interval until the object is destroyed.
class Periodic {
 public:
  Periodic(absl::Duration interval, std::function<void()> look);
  // Blocks until no call is running. No call starts afterwards.
  ~Periodic();

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);

  const absl::Duration interval_;
  const std::function<void()> look_;
  absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  SteadyCondition stop_;
  std::thread thread_;  // declared last, because it uses all members above
};

}  // namespace telemetry
