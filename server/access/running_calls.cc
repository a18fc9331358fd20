#include "server/access/running_calls.h"

#include <utility>

namespace telemetry::access {

void RunningCalls::Add(RunningCall* call, const Caller& caller, std::string_view method) {
  const absl::MutexLock lock(&mutex_);
  calls_.insert({call, {caller, method}});
}

void RunningCalls::Remove(RunningCall* call) {
  const absl::MutexLock lock(&mutex_);
  calls_.erase(call);
}

void RunningCalls::Recheck() {
  const absl::MutexLock lock(&mutex_);
  for (const auto& [call, admission] : calls_) {
    absl::Status status = gate_.Recheck(admission.caller, admission.method);
    if (!status.ok()) call->End(std::move(status));
  }
}

void RunningCalls::CheckTimes(SteadyTime now) {
  const absl::MutexLock lock(&mutex_);
  for (const auto& [call, admission] : calls_) call->CheckTime(now);
}

void RunningCalls::Drain() {
  const absl::MutexLock lock(&mutex_);
  for (const auto& [call, admission] : calls_) call->Drain();
}

}  // namespace telemetry::access
