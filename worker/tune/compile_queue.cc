#include "worker/tune/compile_queue.h"

#include <algorithm>

namespace telemetry::worker::tune {

void CompileQueue::Submit(const std::shared_ptr<const Candidate>& candidate) {
  ++under_way_;
  waiting_.push_back(candidate);
  FillPool();
}

void CompileQueue::FillPool() {
  const size_t most = kForEachCompiler * static_cast<size_t>(pool_.processes());
  while (!waiting_.empty() && under_way_ - waiting_.size() < most) {
    const std::shared_ptr<const Candidate> candidate = std::move(waiting_.front());
    waiting_.pop_front();
    GiveToPool(candidate);
  }
}

void CompileQueue::DropWaiting() {
  under_way_ -= waiting_.size();
  waiting_.clear();
}

void CompileQueue::GiveToPool(const std::shared_ptr<const Candidate>& candidate) {
  pool_.Submit(compile::MakeJob(candidate->generated.source, device_),
               [ready = ready_, candidate](const compile::CompileResult& result) {
                 absl::MutexLock lock(&ready->mutex);
                 ready->compiled.push_back({.candidate = candidate, .result = result, .ended = SteadyNow()});
                 ready->filled.NotifyAll();
               });
}

std::optional<CompiledCandidate> CompileQueue::Next(absl::Duration patience) {
  std::optional<CompiledCandidate> next = TakeReady(patience);
  if (next) --under_way_;
  FillPool();
  return next;
}

std::optional<CompiledCandidate> CompileQueue::TakeReady(absl::Duration patience) {
  absl::MutexLock lock(&ready_->mutex);
  const auto has_event = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(ready_->mutex) {
    return !ready_->compiled.empty() || ready_->is_woken;
  };
  ready_->filled.Await(ready_->mutex, SteadyAfter(patience), has_event);
  ready_->is_woken = false;
  if (ready_->compiled.empty()) return std::nullopt;
  CompiledCandidate next = std::move(ready_->compiled.front());
  ready_->compiled.pop_front();
  return next;
}

void CompileQueue::AwaitEvent(bool or_compiled, absl::Duration patience) {
  absl::MutexLock lock(&ready_->mutex);
  const auto has_event = [this, or_compiled]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(ready_->mutex) {
    return ready_->is_woken || (or_compiled && !ready_->compiled.empty());
  };
  ready_->filled.Await(ready_->mutex, SteadyAfter(patience), has_event);
  ready_->is_woken = false;
}

CompiledCandidate CompileQueue::Await(uint64_t config_id) {
  const auto awaited = std::find_if(waiting_.begin(), waiting_.end(),
                                    [config_id](const auto& candidate) { return candidate->config.id() == config_id; });
  if (awaited != waiting_.end()) {
    const std::shared_ptr<const Candidate> candidate = std::move(*awaited);
    waiting_.erase(awaited);
    GiveToPool(candidate);
  }
  std::deque<CompiledCandidate> others;
  while (true) {
    std::optional<CompiledCandidate> next = Next(absl::InfiniteDuration());
    if (!next) continue;
    if (next->candidate->config.id() != config_id) {
      others.push_back(*std::move(next));
      continue;
    }
    absl::MutexLock lock(&ready_->mutex);
    under_way_ += others.size();
    std::move(others.rbegin(), others.rend(), std::front_inserter(ready_->compiled));
    return *std::move(next);
  }
}

void CompileQueue::Wake() {
  absl::MutexLock lock(&ready_->mutex);
  ready_->is_woken = true;
  ready_->filled.NotifyAll();
}

}  // namespace telemetry::worker::tune
