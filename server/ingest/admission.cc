#include "server/ingest/admission.h"

#include <algorithm>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "proto/base/thread_name.h"
#include "server/call/grpc_status.h"

namespace telemetry::ingest {
namespace {

// The size limit of a small batch: this constant or a 64th of the budget, whichever is lower.
constexpr uint64_t kSmallBytes = uint64_t{64} << 10;
constexpr uint64_t kSmallOnesOfBudget = 64;
// An eighth of the budget is reserved for small batches, and a quarter for those that the writer may hold back.
constexpr uint64_t kSmallShare = 8;
constexpr uint64_t kHeldShare = 4;

}  // namespace

Admission::Admission(const call::Limits& limits)
    : limits_(limits),
      small_bytes_(std::min(kSmallBytes, limits.in_flight_bytes / kSmallOnesOfBudget)),
      small_(limits.in_flight_bytes / kSmallShare),
      large_(limits.in_flight_bytes - limits.in_flight_bytes / kSmallShare - limits.in_flight_bytes / kHeldShare),
      held_(limits.in_flight_bytes / kHeldShare),
      waiting_(limits.waiting_bytes, limits.waiting_bytes),
      thread_([this] { Run(); }) {}

void Admission::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void Admission::Take(Part& part, const std::string& sender, const Need& need) {
  part.in_flight.Take(sender, need.bytes);
  if (need.may_be_held) ++in_held_part_[need.producer_id];
}

bool Admission::TryTake(Part& part, const std::string& sender, const Need& need) {
  if (!part.waiters.empty()) return false;
  if (part.in_flight.RoomFor(sender, need.bytes) != call::SenderShares::Room::kYes) return false;
  Take(part, sender, need);
  return true;
}

bool Admission::TryAdmit(const std::string& sender, Need& need) {
  absl::MutexLock lock(&mutex_);
  Part& part = ChoosePart(need);
  return !stopping_ && TryTake(part, sender, need);
}

void Admission::Admit(const std::string& sender, Need& need, uint64_t message_bytes, Done done) {
  Answers answers;
  {
    absl::MutexLock lock(&mutex_);
    Part& part = ChoosePart(need);
    if (stopping_) {
      answers.emplace_back(std::move(done), absl::UnavailableError("the collector is shutting down"));
    } else if (TryTake(part, sender, need)) {
      answers.emplace_back(std::move(done), absl::OkStatus());
    } else if (MakeRoomToWait(sender, message_bytes, answers)) {
      waiting_.Take(sender, message_bytes);
      part.waiters.push_back({sender, need, message_bytes, SteadyAfter(limits_.admission_timeout), std::move(done)});
      changed_.NotifyAll();
    } else {
      ++turned_away_;
      answers.emplace_back(std::move(done), Overloaded());
    }
  }
  for (auto& [answered, status] : answers) answered(std::move(status));
}

bool Admission::MakeRoomToWait(const std::string& sender, uint64_t message_bytes, Answers& turned_away) {
  const uint64_t half = limits_.waiting_bytes / 2;
  const auto has_room = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return waiting_.RoomFor(sender, message_bytes) == call::SenderShares::Room::kYes;
  };
  if (waiting_.HeldBy(sender) + message_bytes > half) return has_room();
  for (Part* part : {&held_, &large_, &small_}) {
    for (auto waiter = part->waiters.end(); !has_room() && waiter != part->waiters.begin();) {
      --waiter;
      if (waiting_.HeldBy(waiter->sender) <= half) continue;
      ++turned_away_;
      Answer(*part, waiter++, Overloaded(), turned_away);
    }
  }
  return has_room();
}

absl::Status Admission::Overloaded() const {
  return call::TryAgainLater("the collector is overloaded", limits_.retry_delay);
}

void Admission::Release(const std::string& sender, const Need& need) {
  absl::MutexLock lock(&mutex_);
  Part& part = PartOf(need);
  part.in_flight.Release(sender, need.bytes);
  if (need.may_be_held) {
    const auto of = in_held_part_.find(need.producer_id);
    if (--of->second == 0) in_held_part_.erase(of);
  }
  if (!part.waiters.empty()) changed_.NotifyAll();
}

Admission::State Admission::state() const {
  absl::MutexLock lock(&mutex_);
  return {.used_bytes = small_.in_flight.total() + large_.in_flight.total() + held_.in_flight.total(),
          .waiting = small_.waiters.size() + large_.waiters.size() + held_.waiters.size(),
          .waiting_bytes = waiting_.total(),
          .turned_away = turned_away_};
}

std::list<Admission::Waiter>::iterator Admission::Part::FirstWithRoom() {
  // Later batches of a sender without room wait as well.
  absl::flat_hash_set<std::string_view> full;
  for (auto waiter = waiters.begin(); waiter != waiters.end(); ++waiter) {
    if (full.contains(waiter->sender)) continue;
    const call::SenderShares::Room room = in_flight.RoomFor(waiter->sender, waiter->need.bytes);
    if (room == call::SenderShares::Room::kYes) return waiter;
    if (room == call::SenderShares::Room::kAllIsFull) break;
    full.insert(waiter->sender);
  }
  return waiters.end();
}

SteadyTime Admission::NextDeadline() const {
  SteadyTime next = kNever;
  for (const Part* part : {&small_, &large_, &held_}) {
    if (!part->waiters.empty()) next = std::min(next, part->waiters.front().deadline);
  }
  return next;
}

void Admission::Answer(Part& part, std::list<Waiter>::iterator waiter, absl::Status status, Answers& answers) {
  waiting_.Release(waiter->sender, waiter->message_bytes);
  answers.emplace_back(std::move(waiter->done), std::move(status));
  part.waiters.erase(waiter);
}

void Admission::TakeAnswered(Part& part, Answers& answers) {
  for (auto waiter = part.FirstWithRoom(); waiter != part.waiters.end() && !stopping_; waiter = part.FirstWithRoom()) {
    Take(part, waiter->sender, waiter->need);
    Answer(part, waiter, absl::OkStatus(), answers);
  }
  // All batches have the same timeout, so the first waiter has the earliest deadline.
  const SteadyTime now = SteadyNow();
  while (!part.waiters.empty() && (stopping_ || part.waiters.front().deadline <= now)) {
    if (!stopping_) ++turned_away_;
    Answer(part, part.waiters.begin(),
           stopping_ ? absl::UnavailableError("the collector is shutting down") : Overloaded(), answers);
  }
}

void Admission::Run() {
  NameThread("admission");
  while (true) {
    Answers answers;
    bool stopping = false;
    {
      absl::MutexLock lock(&mutex_);
      const auto wake = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || HasWaiters(); };
      const auto work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return HasWork(); };
      changed_.Await(mutex_, kNever, wake);
      changed_.Await(mutex_, NextDeadline(), work);
      TakeAnswered(small_, answers);
      TakeAnswered(large_, answers);
      TakeAnswered(held_, answers);
      stopping = stopping_;
    }
    for (auto& [done, status] : answers) done(std::move(status));
    if (stopping) return;
  }
}

}  // namespace telemetry::ingest
