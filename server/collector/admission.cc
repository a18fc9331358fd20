#include "server/collector/admission.h"

#include "server/collector/grpc_status.h"

namespace telemetry::collector {

Admission::Admission(const Limits& limits) : limits_(limits), thread_([this] { Run(); }) {}

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
    if (waiters_.empty() && HasRoom(bytes)) {
      used_bytes_ += bytes;
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
  if (!waiters_.empty() && waiting_bytes_ + message_bytes > limits_.waiting_bytes) return false;
  waiting_bytes_ += message_bytes;
  waiters_.push_back({bytes, message_bytes, SteadyAfter(limits_.admission_timeout), std::move(done)});
  if (waiters_.size() == 1) changed_.NotifyAll();
  return true;
}

void Admission::Release(uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  used_bytes_ -= bytes;
  if (!waiters_.empty()) changed_.NotifyAll();
}

Admission::State Admission::state() const {
  absl::MutexLock lock(&mutex_);
  return {.used_bytes = used_bytes_,
          .waiting = waiters_.size(),
          .waiting_bytes = waiting_bytes_,
          .turned_away = turned_away_};
}

bool Admission::HasRoom(uint64_t bytes) const {
  return used_bytes_ == 0 || used_bytes_ + bytes <= limits_.in_flight_bytes;
}

bool Admission::HasWork() const { return stopping_ || (!waiters_.empty() && HasRoom(waiters_.front().bytes)); }

Admission::Answers Admission::TakeAnswered() {
  Answers answers;
  const SteadyTime now = SteadyNow();
  while (!waiters_.empty()) {
    Waiter& first = waiters_.front();
    absl::Status status;
    if (stopping_) {
      status = absl::UnavailableError("the collector is shutting down");
    } else if (HasRoom(first.bytes)) {
      used_bytes_ += first.bytes;
    } else if (first.deadline <= now) {
      ++turned_away_;
      status = TryAgainLater("the collector is overloaded", limits_.retry_delay);
    } else {
      break;
    }
    waiting_bytes_ -= first.message_bytes;
    answers.emplace_back(std::move(first.done), std::move(status));
    waiters_.pop_front();
  }
  return answers;
}

void Admission::Run() {
  while (true) {
    Answers answers;
    bool stopping = false;
    {
      absl::MutexLock lock(&mutex_);
      // Waiters are answered in order and all wait equally long, so the first one's deadline is the next.
      const auto wake = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return HasWork() || !waiters_.empty(); };
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
