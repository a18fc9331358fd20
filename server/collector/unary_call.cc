#include "server/collector/unary_call.h"

#include <utility>

#include "server/collector/grpc_status.h"

namespace telemetry::collector {

std::shared_ptr<UnaryCall> UnaryCall::Begin(access::RunningCalls& calls, const access::Caller& caller,
                                            std::string_view method, std::function<void(const absl::Status&)> on_end) {
  std::shared_ptr<UnaryCall> made(new UnaryCall(calls, std::move(on_end)));
  made->self_ = made;
  calls.Add(made.get(), caller, method);
  return made;
}

void UnaryCall::Answer(const absl::Status& status, const std::function<void()>& fill) {
  {
    const absl::MutexLock lock(&mutex_);
    if (std::exchange(ended_, true)) return;
  }
  fill();
  on_end_(status);
  Finish(ToGrpc(status));
}

bool UnaryCall::has_ended() {
  const absl::MutexLock lock(&mutex_);
  return ended_;
}

void UnaryCall::OnDone() {
  calls_.Remove(this);
  self_.reset();
}

}  // namespace telemetry::collector
