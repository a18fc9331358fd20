#include "server/collector/admission.h"

#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "server/collector/grpc_status.h"

namespace telemetry::collector {

Admission::Admission(const Limits& limits)
    : limits_(limits), in_flight_(limits.in_flight_bytes), waiting_(limits.waiting_bytes), thread_([this] { Run(); }) {}

void Admission::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void Admission::Admit(const std::string& sender, uint64_t bytes, uint64_t message_bytes, Done done) {
  absl::Status status;
  {
    absl::MutexLock lock(&mutex_);
    if (stopping_) {
      status = absl::UnavailableError("the collector is shutting down");
    } else if (waiters_.empty() && in_flight_.TryTake(sender, bytes)) {
      status = absl::OkStatus();
    } else if (waiting_.TryTake(sender, message_bytes)) {
      waiters_.push_back({sender, bytes, message_bytes, SteadyAfter(limits_.admission_timeout), std::move(done)});
      changed_.NotifyAll();
      return;
    } else {
      ++turned_away_;
      status = TryAgainLater("the collector is overloaded", limits_.retry_delay);
    }
  }
  done(std::move(status));
}

void Admission::Release(const std::string& sender, uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  in_flight_.Release(sender, bytes);
  if (!waiters_.empty()) changed_.NotifyAll();
}

Admission::State Admission::state() const {
  absl::MutexLock lock(&mutex_);
  return {.used_bytes = in_flight_.total(),
          .waiting = waiters_.size(),
          .waiting_bytes = waiting_.total(),
          .turned_away = turned_away_};
}

std::list<Admission::Waiter>::iterator Admission::FirstWithRoom() {
  // Nor does a sender's small batch overtake its large one.
  absl::flat_hash_set<std::string_view> full;
  for (auto waiter = waiters_.begin(); waiter != waiters_.end(); ++waiter) {
    if (full.contains(waiter->sender)) continue;
    const SenderShares::Room room = in_flight_.RoomFor(waiter->sender, waiter->bytes);
    if (room == SenderShares::Room::kYes) return waiter;
    if (room == SenderShares::Room::kAllIsFull) break;
    full.insert(waiter->sender);
  }
  return waiters_.end();
}

void Admission::Answer(std::list<Waiter>::iterator waiter, absl::Status status, Answers& answers) {
  waiting_.Release(waiter->sender, waiter->message_bytes);
  answers.emplace_back(std::move(waiter->done), std::move(status));
  waiters_.erase(waiter);
}

Admission::Answers Admission::TakeAnswered() {
  Answers answers;
  for (auto waiter = FirstWithRoom(); waiter != waiters_.end() && !stopping_; waiter = FirstWithRoom()) {
    in_flight_.Take(waiter->sender, waiter->bytes);
    Answer(waiter, absl::OkStatus(), answers);
  }
  const SteadyTime now = SteadyNow();
  while (!waiters_.empty() && (stopping_ || waiters_.front().deadline <= now)) {
    if (!stopping_) ++turned_away_;
    Answer(waiters_.begin(),
           stopping_ ? absl::UnavailableError("the collector is shutting down")
                     : TryAgainLater("the collector is overloaded", limits_.retry_delay),
           answers);
  }
  return answers;
}

void Admission::Run() {
  while (true) {
    Answers answers;
    bool stopping = false;
    {
      absl::MutexLock lock(&mutex_);
      // All wait equally long, so the first one's deadline is the next.
      const auto wake = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || !waiters_.empty(); };
      const auto work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return HasWork(); };
      changed_.Await(mutex_, kNever, wake);
      changed_.Await(mutex_, waiters_.empty() ? kLongAgo : waiters_.front().deadline, work);
      answers = TakeAnswered();
      stopping = stopping_;
    }
    for (auto& [done, status] : answers) done(std::move(status));
    if (stopping) return;
  }
}

}  // namespace telemetry::collector
