#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace telemetry::ingest {

// A pool of threads for work that blocks, so that gRPC's threads do not block. Thread-safe.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  // Runs the queued work, then ends the threads.
  ~ThreadPool();

  void Run(std::function<void()> work) ABSL_LOCKS_EXCLUDED(mutex_);
  // Runs `work` on an idle thread or, if there is none, on the calling thread.
  void RunOnIdle(std::function<void()> work) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Loop() ABSL_LOCKS_EXCLUDED(mutex_);
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !queue_.empty() || stopping_; }

  absl::Mutex mutex_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mutex_);
  size_t running_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace telemetry::ingest
