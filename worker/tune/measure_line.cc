#include "worker/tune/measure_line.h"

#include <algorithm>
#include <utility>

namespace telemetry::worker::tune {

MeasureLine::MeasureLine(size_t most_waiting, Measure measure, std::function<void()> on_result)
    : most_waiting_(most_waiting),
      measure_(std::move(measure)),
      on_result_(std::move(on_result)),
      thread_([this] { Run(); }) {}

MeasureLine::~MeasureLine() {
  {
    absl::MutexLock lock(&mutex_);
    waiting_.clear();
    is_ending_ = true;
  }
  thread_.join();
}

bool MeasureLine::HasRoom() const {
  absl::MutexLock lock(&mutex_);
  return waiting_.size() < most_waiting_ + (is_measuring_ ? 0 : 1);
}

void MeasureLine::Add(CompiledCandidate candidate) {
  absl::MutexLock lock(&mutex_);
  waiting_.push_back(std::move(candidate));
}

void MeasureLine::NoteTime(double ms) {
  absl::MutexLock lock(&mutex_);
  best_ms_ = std::min(best_ms_, ms);
}

size_t MeasureLine::size() const {
  absl::MutexLock lock(&mutex_);
  return waiting_.size() + (is_measuring_ ? 1 : 0) + results_.size();
}

std::optional<MeasureLine::Result> MeasureLine::Take() {
  absl::MutexLock lock(&mutex_);
  if (results_.empty()) return std::nullopt;
  Result result = std::move(results_.front());
  results_.pop_front();
  return result;
}

MeasureLine::Result MeasureLine::Await() {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(this, &MeasureLine::HasResult));
  Result result = std::move(results_.front());
  results_.pop_front();
  return result;
}

void MeasureLine::DropWaiting() {
  absl::MutexLock lock(&mutex_);
  waiting_.clear();
}

void MeasureLine::Run() {
  absl::MutexLock lock(&mutex_);
  while (true) {
    mutex_.Await(absl::Condition(this, &MeasureLine::HasWork));
    if (waiting_.empty()) return;
    CompiledCandidate candidate = std::move(waiting_.front());
    waiting_.pop_front();
    is_measuring_ = true;
    const std::optional<CompiledCandidate> next = waiting_.empty() ? std::nullopt : std::optional(waiting_.front());
    const double best_ms = best_ms_;
    mutex_.Unlock();
    absl::StatusOr<measure::wire::Outcome> outcome = measure_(candidate, best_ms, next);
    mutex_.Lock();
    is_measuring_ = false;
    if (outcome.ok() && outcome->has_perf_ms()) best_ms_ = std::min(best_ms_, outcome->perf_ms());
    results_.push_back({.candidate = std::move(candidate), .outcome = std::move(outcome)});
    mutex_.Unlock();
    on_result_();
    mutex_.Lock();
  }
}

}  // namespace telemetry::worker::tune
