#include "server/dataset/page_call.h"

#include <chrono>
#include <utility>

#include "server/call/grpc_status.h"
#include "server/call/operation_scope.h"

namespace telemetry::dataset {
namespace {

constexpr std::chrono::milliseconds kLastWrite{500};

absl::Status ClientHasGone() { return absl::CancelledError("the client has disconnected"); }

}  // namespace

void PageCall::Page::Add(grpc::ByteBuffer message) {
  bytes += message.Length();
  messages.push_back(std::move(message));
}

PageCall::PageCall(const PageCallContext& context, call::AdmittedCall call, const Words& words)
    : call::RawCall(std::move(call)),
      context_(context),
      words_(words),
      request_at_(SteadyAfter(context.request_timeout)),
      limit_at_(SteadyAfter(context.call_timeout)) {}

void PageCall::OnReadDone(bool ok) {
  if (ok) CountMessage(request_);
  absl::Status status = ok ? TakeRequest(request_) : absl::InvalidArgumentError("the call ended before its request");
  request_.Clear();
  const absl::MutexLock lock(&mutex_);
  if (finished_) return;
  if (!status.ok()) return FinishNow(status);
  has_request_ = true;
  SchedulePage();
}

void PageCall::SchedulePage() {
  auto self = std::static_pointer_cast<PageCall>(shared_from_this());
  const bool waits = context_.pool.Run(sender(), [self = std::move(self)] {
    if (!self->has_ended()) self->BeginPage();
  });
  if (!waits) FinishNow(absl::ResourceExhaustedError("too many calls of this client are waiting: retry later"));
}

bool PageCall::has_ended() {
  const absl::MutexLock lock(&mutex_);
  return finished_;
}

void PageCall::Deliver(absl::StatusOr<Page> page) {
  const call::OperationScope scope;
  const absl::MutexLock lock(&mutex_);
  if (finished_) return;
  if (!page.ok()) return FinishNow(page.status());
  page_ = *std::move(page);
  context_.pool.Hold(sender(), page_.bytes);
  GoOn();
}

void PageCall::GoOn() {
  if (!page_.messages.empty()) {
    writing_ = true;
    writing_since_ = SteadyNow();
    wire().Write(page_.messages.front());
  } else if (page_.is_last) {
    FinishNow(absl::OkStatus());
  } else {
    SchedulePage();
  }
}

void PageCall::OnWriteDone(bool ok) {
  const absl::MutexLock lock(&mutex_);
  writing_ = false;
  const uint64_t bytes = page_.messages.front().Length();
  page_.messages.pop_front();
  page_.bytes -= bytes;
  context_.pool.Release(sender(), bytes);
  if (end_.has_value()) return FinishNow(*end_);
  if (!ok) return FinishNow(ClientHasGone());
  GoOn();
}

void PageCall::OnCancel() {
  const absl::MutexLock lock(&mutex_);
  EndBy(ClientHasGone(), kNever);
}

void PageCall::End(absl::Status status) {
  const call::OperationScope scope;
  const absl::MutexLock lock(&mutex_);
  EndBy(std::move(status), writing_since_ + kLastWrite);
}

void PageCall::CheckTime(SteadyTime now) {
  const call::OperationScope scope;
  const absl::MutexLock lock(&mutex_);
  if (finished_) return;
  const SteadyTime unread_at = writing_since_ + absl::ToChronoNanoseconds(context_.unread_timeout);
  if (!has_request_ && now >= request_at_) {
    EndBy(absl::DeadlineExceededError("the request did not arrive in time"), now);
  } else if (writing_ && now >= unread_at) {
    EndBy(absl::DeadlineExceededError("the client does not read its messages"), now);
  } else if (now >= limit_at_) {
    EndBy(absl::DeadlineExceededError(words_.overdue), unread_at);
  }
  if (finished_ || !end_.has_value() || now < cut_at_) return;
  cut_at_ = kNever;
  context().TryCancel();
}

void PageCall::EndBy(absl::Status status, SteadyTime cut_at) {
  if (finished_ || end_.has_value()) return;
  if (!writing_) return FinishNow(status);
  end_ = std::move(status);
  cut_at_ = cut_at;
}

void PageCall::FinishNow(const absl::Status& status) {
  finished_ = true;
  context_.pool.Release(sender(), page_.bytes);
  page_ = {};
  OnEnd(status);
  wire().Finish(call::ToGrpc(status));
}

}  // namespace telemetry::dataset
