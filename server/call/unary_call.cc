#include "server/call/unary_call.h"

#include <utility>

#include "server/call/grpc_status.h"

namespace telemetry::call {

void UnaryCall::OnReadDone(bool ok) {
  if (!ok) return End(absl::InvalidArgumentError("the call ended before its request"));
  CountMessage(request_);
  {
    const absl::MutexLock lock(&mutex_);
    if (ended_) return;
    request_at_ = kNever;
  }
  OnRequest();
}

void UnaryCall::CheckTime(SteadyTime now) {
  {
    const absl::MutexLock lock(&mutex_);
    if (now >= read_at_) context().TryCancel();
    if (ended_ || now < request_at_) return;
  }
  End(absl::DeadlineExceededError("the request did not arrive in time"));
}

bool UnaryCall::has_ended() {
  const absl::MutexLock lock(&mutex_);
  return ended_;
}

void UnaryCall::SetProducer(const std::string& producer_id) {
  const absl::MutexLock lock(&mutex_);
  producer_id_ = producer_id;
}

void UnaryCall::Answer(absl::StatusOr<grpc::ByteBuffer> answer) {
  std::string producer_id;
  {
    const absl::MutexLock lock(&mutex_);
    if (std::exchange(ended_, true)) return;
    producer_id = producer_id_;
    read_at_ = SteadyAfter(unread_timeout_);
  }
  gate_.LogEnd(caller(), method(), producer_id, answer.status());
  if (!answer.ok()) return wire().Finish(ToGrpc(answer.status()));
  response_ = *std::move(answer);
  wire().WriteAndFinish(response_, grpc::Status::OK);
}

}  // namespace telemetry::call
