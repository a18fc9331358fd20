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
#include "proto/base/steady.h"
#include "server/batch/request_outline.h"
#include "server/call/limits.h"
#include "server/call/sender_shares.h"

namespace telemetry::ingest {

// The budget for bytes in flight: records and the memory that holds them. A batch is admitted before it is parsed.
// While the budget has no room, the batch waits and its stream reads no further message, which is the client's
// backpressure. Thread-safe.
//
// One sender may use at most three quarters of the budget. Batches are admitted first come, first served, but a sender
// that has used up its share does not block other senders. When one sender holds more than half of the room for waiting
// batches, its newest batches are refused to make room for those of other senders. Small batches have a part of the
// budget of their own. So have indivisible ones and the later batches of their producers, because the writer may hold
// them back for long (writer::BatchQueue): others do not wait for them.
class Admission {
 public:
  // OK: the bytes are reserved, and the caller must release them. RESOURCE_EXHAUSTED with RetryInfo: no room became
  // free within admission_timeout, or there was no room to wait.
  using Done = std::function<void(absl::Status)>;

  explicit Admission(const call::Limits& limits);
  ~Admission() { Stop(); }
  // Ends all waiting batches, and all that come later, with UNAVAILABLE.
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);

  // The memory of a batch, and whether the writer may hold it back: an indivisible batch (batch::PieceOutline), or,
  // which TryAdmit and Admit determine, one that follows an indivisible one of its producer that is in flight.
  struct Need {
    uint64_t bytes = 0;
    bool may_be_held = false;
    std::string producer_id;
  };
  static Need NeedOf(const std::string& producer_id, const batch::PieceOutline& piece) {
    return {piece.memory_bytes, piece.is_indivisible(), producer_id};
  }

  // Reserves the bytes if nothing waits for room and they have room now; the caller must release them.
  bool TryAdmit(const std::string& sender, Need& need) ABSL_LOCKS_EXCLUDED(mutex_);
  // Calls `done` exactly once: before Admit() returns if there is room for the batch, or no room to wait; otherwise
  // later, from the thread of this object. A batch larger than the budget is admitted only while nothing else is in
  // flight, and a batch larger than a sender's share only while its sender has nothing else in flight. A batch larger
  // than the room for waiting batches waits only while no other batch waits. `message_bytes` is the memory that the
  // batch uses while it waits.
  void Admit(const std::string& sender, Need& need, uint64_t message_bytes, Done done) ABSL_LOCKS_EXCLUDED(mutex_);
  void Release(const std::string& sender, const Need& need) ABSL_LOCKS_EXCLUDED(mutex_);

  struct State {
    uint64_t used_bytes = 0;
    uint64_t waiting = 0;
    uint64_t waiting_bytes = 0;
    uint64_t turned_away = 0;  // batches refused so far because there was no room
  };
  State state() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Waiter {
    std::string sender;
    Need need;
    uint64_t message_bytes;
    SteadyTime deadline;
    Done done;
  };
  using Answers = std::vector<std::pair<Done, absl::Status>>;

  struct Part {
    explicit Part(uint64_t limit_bytes) : in_flight(limit_bytes, limit_bytes / 4 * 3) {}

    // Returns the first waiter that has room, or end() if there is none.
    std::list<Waiter>::iterator FirstWithRoom();
    bool HasWork() { return FirstWithRoom() != waiters.end(); }

    call::SenderShares in_flight;
    std::list<Waiter> waiters;
  };

  absl::Status Overloaded() const;
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  // Completes `need` and returns its part of the budget.
  Part& ChoosePart(Need& need) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    need.may_be_held |= in_held_part_.contains(need.producer_id);
    return PartOf(need);
  }
  Part& PartOf(const Need& need) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (need.may_be_held) return held_;
    return need.bytes <= small_bytes_ ? small_ : large_;
  }
  void Take(Part& part, const std::string& sender, const Need& need) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes the bytes if nothing waits for room and they have room now.
  bool TryTake(Part& part, const std::string& sender, const Need& need) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasWaiters() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !small_.waiters.empty() || !large_.waiters.empty() || !held_.waiters.empty();
  }
  bool HasWork() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopping_ || small_.HasWork() || large_.HasWork() || held_.HasWork();
  }
  // Returns the earliest deadline of a waiter, or kNever if nothing waits.
  SteadyTime NextDeadline() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Refuses waiting batches of senders that hold more than half of the room until a batch of `message_bytes` fits.
  // Refuses nothing if `sender` itself would hold more than half. Returns false if the batch does not fit.
  bool MakeRoomToWait(const std::string& sender, uint64_t message_bytes, Answers& turned_away)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Answer(Part& part, std::list<Waiter>::iterator waiter, absl::Status status, Answers& answers)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Removes from the queue the waiters that have room now or whose deadline has passed, and all of them after Stop.
  void TakeAnswered(Part& part, Answers& answers) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const call::Limits limits_;
  const uint64_t small_bytes_;
  mutable absl::Mutex mutex_;
  Part small_ ABSL_GUARDED_BY(mutex_);
  Part large_ ABSL_GUARDED_BY(mutex_);
  Part held_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, uint64_t> in_held_part_ ABSL_GUARDED_BY(mutex_);  // batches in flight by producer
  call::SenderShares waiting_ ABSL_GUARDED_BY(mutex_);
  uint64_t turned_away_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  SteadyCondition changed_;
  std::thread thread_;
};

}  // namespace telemetry::ingest
