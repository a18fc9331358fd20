#pragma once

#include <deque>
#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace telemetry::worker::tune::compile {

// Calls functions one after the other, in the order of Post(), on its own thread. Thread-safe. The destructor blocks
// until all posted functions have been called.
class CallbackThread {
 public:
  CallbackThread() : thread_([this] { Run(); }) {}
  ~CallbackThread();
  CallbackThread(const CallbackThread&) = delete;
  CallbackThread& operator=(const CallbackThread&) = delete;

  void Post(std::function<void()> callback);

 private:
  void Run();
  bool HasWork() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return ending_ || !callbacks_.empty(); }

  absl::Mutex mutex_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<std::function<void()>> callbacks_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;  // the last member: the thread uses the others
};

}  // namespace telemetry::worker::tune::compile
