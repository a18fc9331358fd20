#include "worker/tune/compile_queue.h"

#include <algorithm>

namespace telemetry::worker::tune {

CompileQueue::CompileQueue(compile::CompilePool* pool, const device::DeviceProperties& device,
                           const std::string& device_id)
    : pool_(*pool),
      dialect_(device.dialect),
      target_(device.dialect == device::Dialect::kCuda ? device.architecture : device_id) {}

void CompileQueue::Submit(const std::shared_ptr<const Candidate>& candidate) {
  ++under_way_;
  const std::string& source = candidate->generated.source;
  pool_.Submit({.source = source, .dialect = dialect_, .target = target_},
               [ready = ready_, candidate](const compile::CompileResult& result) {
                 absl::MutexLock lock(&ready->mutex);
                 ready->compiled.push_back({candidate, result});
                 ready->filled.NotifyAll();
               });
}

std::optional<CompiledCandidate> CompileQueue::Next(absl::Duration patience) {
  absl::MutexLock lock(&ready_->mutex);
  const auto is_filled = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(ready_->mutex) { return !ready_->compiled.empty(); };
  if (!ready_->filled.Await(ready_->mutex, SteadyAfter(patience), is_filled)) return std::nullopt;
  CompiledCandidate next = std::move(ready_->compiled.front());
  ready_->compiled.pop_front();
  --under_way_;
  return next;
}

CompiledCandidate CompileQueue::Await(uint64_t config_id) {
  std::deque<CompiledCandidate> others;
  while (true) {
    std::optional<CompiledCandidate> next = Next(absl::InfiniteDuration());
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

}  // namespace telemetry::worker::tune
