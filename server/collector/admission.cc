#include "server/collector/admission.h"

#include <algorithm>

#include "server/collector/grpc_status.h"

namespace telemetry::collector {
namespace {

// A small batch takes at most this much, and no more than a 64th of the budget, of which an eighth is for small ones.
constexpr uint64_t kSmallBytes = uint64_t{64} << 10;
constexpr uint64_t kSmallOnesOfBudget = 64;
constexpr uint64_t kPartsOfBudget = 8;

}  // namespace

Admission::Admission(const Limits& limits)
    : limits_(limits),
      small_bytes_(std::min(kSmallBytes, limits.in_flight_bytes / kSmallOnesOfBudget)),
      small_{.limit_bytes = limits.in_flight_bytes / kPartsOfBudget},
      large_{.limit_bytes = limits.in_flight_bytes - small_.limit_bytes},
      thread_([this] { Run(); }) {}

Admission::~Admission() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void Admission::Admit(uint64_t bytes, uint64_t message_bytes, Done done) {
  absl::Status status;
  {
    absl::MutexLock lock(&mutex_);
    Part& part = PartOf(bytes);
    if (part.waiters.empty() && part.HasRoom(bytes)) {
      part.used_bytes += bytes;
    } else if (Enqueue(bytes, message_bytes, done)) {
      return;
    } else {
      ++turned_away_;
      status = TryAgainLater("the collector is overloaded", limits_.retry_delay);
    }
  }
  done(std::move(status));
}

bool Admission::Enqueue(uint64_t bytes, uint64_t message_bytes, Done& done) {
  Part& part = PartOf(bytes);
  if (!part.waiters.empty() && waiting_bytes_ + message_bytes > limits_.waiting_bytes) return false;
  waiting_bytes_ += message_bytes;
  part.waiters.push_back({bytes, message_bytes, SteadyAfter(limits_.admission_timeout), std::move(done)});
  if (part.waiters.size() == 1) changed_.NotifyAll();
  return true;
}

void Admission::Release(uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  Part& part = PartOf(bytes);
  part.used_bytes -= bytes;
  if (!part.waiters.empty()) changed_.NotifyAll();
}

Admission::State Admission::state() const {
  absl::MutexLock lock(&mutex_);
  return {.used_bytes = small_.used_bytes + large_.used_bytes,
          .waiting = small_.waiters.size() + large_.waiters.size(),
          .waiting_bytes = waiting_bytes_,
          .turned_away = turned_away_};
}

bool Admission::HasWaiters() const { return !small_.waiters.empty() || !large_.waiters.empty(); }

bool Admission::HasWork() const { return stopping_ || small_.HasWork() || large_.HasWork(); }

// All of a part wait equally long.
SteadyTime Admission::NextDeadline() const {
  SteadyTime next = HasWaiters() ? kNever : kLongAgo;
  for (const Part* part : {&small_, &large_}) {
    if (!part->waiters.empty()) next = std::min(next, part->waiters.front().deadline);
  }
  return next;
}

void Admission::TakeAnswered(Part& part, SteadyTime now, Answers& answers) {
  while (!part.waiters.empty()) {
    Waiter& first = part.waiters.front();
    absl::Status status;
    if (stopping_) {
      status = absl::UnavailableError("the collector is shutting down");
    } else if (part.HasRoom(first.bytes)) {
      part.used_bytes += first.bytes;
    } else if (first.deadline <= now) {
      ++turned_away_;
      status = TryAgainLater("the collector is overloaded", limits_.retry_delay);
    } else {
      break;
    }
    waiting_bytes_ -= first.message_bytes;
    answers.emplace_back(std::move(first.done), std::move(status));
    part.waiters.pop_front();
  }
}

void Admission::Run() {
  while (true) {
    Answers answers;
    bool stopping = false;
    {
      absl::MutexLock lock(&mutex_);
      const auto wake = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || HasWaiters(); };
      const auto work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return HasWork(); };
      changed_.Await(mutex_, kNever, wake);
      changed_.Await(mutex_, NextDeadline(), work);
      const SteadyTime now = SteadyNow();
      TakeAnswered(small_, now, answers);
      TakeAnswered(large_, now, answers);
      stopping = stopping_;
    }
    for (auto& [done, status] : answers) done(std::move(status));
    if (stopping) return;
  }
}

}  // namespace telemetry::collector
