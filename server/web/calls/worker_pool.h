#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace telemetry::web::calls {

// Threads that do work for clients. Networks take turns, so that a network that asks much delays its own work only.
// Thread-safe.
class WorkerPool {
 public:
  // `worker`: the number of the thread, from 0.
  using Work = std::function<void(size_t worker)>;

  // `most_waiting`: the most works of one network that wait.
  WorkerPool(size_t threads, size_t most_waiting);
  // Calls Stop().
  ~WorkerPool() { Stop(); }

  // Adds work. Returns false if too much work of the network waits, or after Stop.
  bool Submit(const std::string& network, Work work) ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends the threads after the work that they are doing, and drops the work that waits.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  size_t size() const { return threads_.size(); }
  // Returns the number of works that wait.
  size_t waiting() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Run(size_t worker) ABSL_LOCKS_EXCLUDED(mutex_);
  Work TakeNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return is_stopping_ || !turns_.empty(); }

  const size_t most_waiting_;
  mutable absl::Mutex mutex_;
  std::map<std::string, std::deque<Work>> waiting_ ABSL_GUARDED_BY(mutex_);  // by network; none is empty
  std::deque<std::string> turns_ ABSL_GUARDED_BY(mutex_);                    // the networks of waiting_
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace telemetry::web::calls
