#pragma once

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace telemetry::collector {

// Calls a function again and again, from a thread of its own, until it is destroyed: the time limits are looked at so.
class StreamWatch {
 public:
  StreamWatch(absl::Duration interval, std::function<void()> look);
  // Returns when no call is under way and none will come.
  ~StreamWatch();

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);

  const absl::Duration interval_;
  const std::function<void()> look_;
  absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace telemetry::collector
