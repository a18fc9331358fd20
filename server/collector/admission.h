#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "proto/clock/steady.h"
#include "server/collector/limits.h"

namespace telemetry::collector {

// The budget of bytes in flight, records and what holds them in memory. A batch is admitted before it is parsed; while
// there is no room its stream waits and reads nothing more, which is the client's backpressure. Small batches have a
// part of the budget of their own, so that they wait for no large ones. Within both parts: first come, first served.
// Thread-safe.
class Admission {
 public:
  // OK: the bytes are taken, and must be given back. RESOURCE_EXHAUSTED with RetryInfo: no room within the limits'
  // time, or none to wait.
  using Done = std::function<void(absl::Status)>;

  explicit Admission(const Limits& limits);
  // Answers those who still wait with UNAVAILABLE.
  ~Admission();

  // Calls `done` once: before it returns when there is room or none to wait, else later from this object's own thread.
  // A batch larger than the whole budget is let in alone, and so is one larger than the room to wait. `message_bytes`:
  // what it takes while it waits.
  void Admit(uint64_t bytes, uint64_t message_bytes, Done done) ABSL_LOCKS_EXCLUDED(mutex_);
  void Release(uint64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);

  struct State {
    uint64_t used_bytes = 0;
    uint64_t waiting = 0;
    uint64_t waiting_bytes = 0;
    uint64_t turned_away = 0;  // those for which there was no room, so far
  };
  State state() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Waiter {
    uint64_t bytes;
    uint64_t message_bytes;
    SteadyTime deadline;
    Done done;
  };
  using Answers = std::vector<std::pair<Done, absl::Status>>;
  struct Part {
    uint64_t limit_bytes;
    uint64_t used_bytes = 0;
    std::list<Waiter> waiters;

    bool HasRoom(uint64_t bytes) const { return used_bytes == 0 || used_bytes + bytes <= limit_bytes; }
    bool HasWork() const { return !waiters.empty() && HasRoom(waiters.front().bytes); }
  };

  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  Part& PartOf(uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return bytes <= small_bytes_ ? small_ : large_; }
  bool HasWaiters() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The first time at which a waiter has waited too long.
  SteadyTime NextDeadline() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // False: there is no room to wait.
  bool Enqueue(uint64_t bytes, uint64_t message_bytes, Done& done) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes those out of the queue who have room now or have waited too long.
  void TakeAnswered(Part& part, SteadyTime now, Answers& answers) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Limits limits_;
  const uint64_t small_bytes_;
  mutable absl::Mutex mutex_;
  Part small_ ABSL_GUARDED_BY(mutex_);
  Part large_ ABSL_GUARDED_BY(mutex_);
  uint64_t waiting_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t turned_away_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  SteadyCondition changed_;
  std::thread thread_;
};

}  // namespace telemetry::collector
