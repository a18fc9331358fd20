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
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/call/limits.h"
#include "server/call/sender_shares.h"

namespace telemetry::ingest {

// The threads that read and parse expensive messages, so that the thread that polls the sockets need not. Senders take
// turns: a message of one sender waits for at most one message of each other sender. Thread-safe.
//
// The messages that wait are bounded in bytes (Limits::waiting_bytes), and one sender may use three quarters of them.
class ParseQueue {
 public:
  // `is_urgent` returns true while the callers of Run must not be delayed. It is called from any thread.
  ParseQueue(int threads, const call::Limits& limits, std::function<bool()> is_urgent);
  // Runs the queued work, then ends the threads.
  ~ParseQueue();

  // Queues `work`, which handles a message of `bytes`, or runs it here if no thread is idle and nothing is urgent.
  // Returns RESOURCE_EXHAUSTED with RetryInfo, and does not run `work`, if there is no room for the message.
  absl::Status Run(const std::string& sender, uint64_t bytes, std::function<void()> work) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Job {
    std::string sender;
    uint64_t bytes = 0;
    std::function<void()> work;
  };

  absl::Status Queue(Job job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Loop() ABSL_LOCKS_EXCLUDED(mutex_);
  Job TakeJob() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !turns_.empty() || stopping_; }

  const std::function<bool()> is_urgent_;
  const absl::Duration retry_delay_;
  absl::Mutex mutex_;
  call::SenderShares unparsed_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, std::deque<Job>> jobs_ ABSL_GUARDED_BY(mutex_);  // by sender; no empty queues
  std::deque<std::string> turns_ ABSL_GUARDED_BY(mutex_);                           // the senders that have jobs
  size_t unfinished_ ABSL_GUARDED_BY(mutex_) = 0;                                   // jobs that are queued or running
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace telemetry::ingest
