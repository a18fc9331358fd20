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

namespace telemetry::collector {

// A few threads for the work of many clients, which take turns. No client has more than half of the threads at a time,
// and none begins new work while the bytes that it holds, or all hold, have reached their limits. Thread-safe.
class FairPool {
 public:
  struct Options {
    int threads = 2;
    // Work of one client that waits.
    size_t most_waiting = 256;
    // The most bytes that all clients hold together; one client holds at most a quarter.
    uint64_t held_bytes = uint64_t{32} << 20;
  };

  explicit FairPool(const Options& options);
  // Does what waits, whatever is held, then ends.
  ~FairPool();

  // Runs `work` when it is this client's turn. False: too much of it waits, and `work` will not run.
  bool Run(const std::string& client, std::function<void()> work) ABSL_LOCKS_EXCLUDED(mutex_);
  // Counts bytes that the client's work has left in memory, until they are released.
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
  // Takes the work of the client whose turn it is; empty: there is none.
  std::function<void()> Take(std::string* client) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetIfIdle(const std::string& client) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  const int most_running_;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, Client> clients_ ABSL_GUARDED_BY(mutex_);
  // Those with work that waits, each once, in the order of their turns.
  std::deque<std::string> turns_ ABSL_GUARDED_BY(mutex_);
  uint64_t held_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace telemetry::collector
