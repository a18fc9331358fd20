#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "proto/clock/steady.h"
#include "server/call/limits.h"
#include "server/call/sender_shares.h"

namespace telemetry::collector {

// The budget of bytes in flight, records and what holds them in memory. A batch is admitted before it is parsed; while
// there is no room its stream waits and reads nothing more, which is the client's backpressure. A sender has at most
// three quarters of the budget. First come, first served, but a sender without room in its own share holds up nobody
// else; and where one sender has more than half of the room to wait, its last batches make way for those of others.
// Small batches have a part of the budget of their own, so that they wait for no large ones. Thread-safe.
class Admission {
 public:
  // OK: the bytes are taken, and must be given back. RESOURCE_EXHAUSTED with RetryInfo: no room within the limits'
  // time, or none to wait.
  using Done = std::function<void(absl::Status)>;

  explicit Admission(const Limits& limits);
  ~Admission() { Stop(); }
  // Answers the batches that wait, and all that come later, with UNAVAILABLE.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  // Calls `done` once: before it returns when there is room or none to wait, else later from this object's own thread.
  // A batch larger than the whole budget is let in alone, one larger than a share as its sender's only one; one that is
  // larger than the room to wait waits alone. `message_bytes`: what the batch takes while it waits.
  void Admit(const std::string& sender, uint64_t bytes, uint64_t message_bytes, Done done) ABSL_LOCKS_EXCLUDED(mutex_);
  void Release(const std::string& sender, uint64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);

  struct State {
    uint64_t used_bytes = 0;
    uint64_t waiting = 0;
    uint64_t waiting_bytes = 0;
    uint64_t turned_away = 0;  // those for which there was no room, so far
  };
  State state() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Waiter {
    std::string sender;
    uint64_t bytes;
    uint64_t message_bytes;
    SteadyTime deadline;
    Done done;
  };
  using Answers = std::vector<std::pair<Done, absl::Status>>;

  struct Part {
    explicit Part(uint64_t limit_bytes) : in_flight(limit_bytes, limit_bytes / 4 * 3) {}

    // Returns the first waiter with room; end: there is none.
    std::list<Waiter>::iterator FirstWithRoom();
    bool HasWork() { return FirstWithRoom() != waiters.end(); }

    SenderShares in_flight;
    std::list<Waiter> waiters;
  };

  absl::Status Overloaded() const;
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  Part& PartOf(uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return bytes <= small_bytes_ ? small_ : large_; }
  bool HasWaiters() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !small_.waiters.empty() || !large_.waiters.empty();
  }
  bool HasWork() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || small_.HasWork() || large_.HasWork(); }
  // Returns the first time at which a waiter has waited too long.
  SteadyTime NextDeadline() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Turns away batches of a sender that has more than half of the room to wait, until one of `message_bytes` has room
  // there; returns false where it has none, or `sender` has half of the room itself.
  bool MakeRoomToWait(const std::string& sender, uint64_t message_bytes, Answers& turned_away)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Answer(Part& part, std::list<Waiter>::iterator waiter, absl::Status status, Answers& answers)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes those out of the queue who have room now or have waited too long.
  void TakeAnswered(Part& part, Answers& answers) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Limits limits_;
  const uint64_t small_bytes_;
  mutable absl::Mutex mutex_;
  Part small_ ABSL_GUARDED_BY(mutex_);
  Part large_ ABSL_GUARDED_BY(mutex_);
  SenderShares waiting_ ABSL_GUARDED_BY(mutex_);
  uint64_t turned_away_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  SteadyCondition changed_;
  std::thread thread_;
};

}  // namespace telemetry::collector
