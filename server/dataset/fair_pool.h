#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"

namespace telemetry::dataset {

// A thread pool whose clients take turns. A client uses at most half of the threads at a time. A client starts no new
// work while it, or all clients together, hold as many bytes as the limits allow. Thread-safe.
class FairPool {
 public:
  struct Options {
    int threads = 2;
    // The most work items of one client that may wait.
    size_t most_waiting = 256;
    // The limit on the bytes that all clients hold together. One client may hold a quarter of it.
    uint64_t held_bytes = uint64_t{32} << 20;
  };

  explicit FairPool(const Options& options);
  // Runs all waiting work, regardless of the bytes held, then ends the threads.
  ~FairPool();

  // Runs `work` when it is this client's turn. Returns false, and does not run `work`, if too much work of this client
  // waits.
  bool Run(const std::string& client, std::function<void()> work) ABSL_LOCKS_EXCLUDED(mutex_);
  // Counts bytes that the client's work has left in memory until Release is called for them.
  void Hold(const std::string& client, uint64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  void Release(const std::string& client, uint64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Client {
    std::deque<std::function<void()>> waiting;
    int running = 0;
    uint64_t held_bytes = 0;
  };

  void Loop() ABSL_LOCKS_EXCLUDED(mutex_);
  bool MayBegin(const Client& client) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the next work and sets `client` to the client whose turn it is. Returns an empty function if no client may
  // begin work.
  std::function<void()> Take(std::string* client) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetIfIdle(const std::string& client) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  const int most_running_;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, Client> clients_ ABSL_GUARDED_BY(mutex_);
  // The clients with waiting work, each once, in the order of their turns.
  std::deque<std::string> turns_ ABSL_GUARDED_BY(mutex_);
  uint64_t held_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace telemetry::dataset
