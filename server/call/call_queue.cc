#include "server/call/call_queue.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "proto/base/thread_name.h"
#include "server/call/grpc_status.h"
#include "server/call/operation_scope.h"
#include "server/call/raw_service.h"

namespace telemetry::call {

CallQueue::CallQueue(RunningCalls& calls)
    : calls_(calls),
      unknown_method_(
          {.request =
               [this](grpc::GenericServerContext& context, grpc::GenericServerAsyncReaderWriter& stream, void* tag) {
                 generic_service_.RequestCall(&context, &stream, queue_.get(), queue_.get(), tag);
               },
           .make = [](grpc::GenericServerContext& /*context*/) -> absl::StatusOr<std::shared_ptr<RawCall>> {
             return absl::UnimplementedError("unknown method");
           }}) {}

void CallQueue::AddTo(grpc::ServerBuilder& builder) {
  builder.RegisterAsyncGenericService(&generic_service_);
  queue_ = builder.AddCompletionQueue();
}

void CallQueue::Start() {
  Take(unknown_method_);
  const absl::MutexLock lock(&mutex_);
  state_ = State::kRunning;
  for (Thread& one : threads_) {
    one.thread = std::thread([this, &one] { &one == &threads_.front() ? Lead(one) : Help(one); });
  }
}

void CallQueue::Stop() {
  if (queue_ == nullptr) return;
  {
    // No operation may start on a queue that is shut down.
    const absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &CallQueue::has_none));
    state_ = State::kStopped;
  }
  queue_->Shutdown();
  {
    // The helpers, too, learn from the queue that it is shut down.
    const absl::MutexLock lock(&help_);
    help_until_ = kNever;
  }
  for (Thread& one : threads_) {
    if (one.thread.joinable()) one.thread.join();
  }
  queue_ = nullptr;
}

void CallQueue::Take(const Method& method) { CallOnWire::Await(*this, method); }

void CallQueue::Post(std::function<void()> work) {
  {
    const absl::MutexLock lock(&mutex_);
    if (state_ == State::kRunning) {
      posted_.push_back(std::move(work));
      if (posted_.size() == 1) alarm_.Set(queue_.get(), gpr_inf_past(GPR_CLOCK_REALTIME), &alarm_);
      return;
    }
  }
  work();
}

void CallQueue::RunPosted() {
  std::vector<std::function<void()>> posted;
  {
    const absl::MutexLock lock(&mutex_);
    posted.swap(posted_);
  }
  for (const std::function<void()>& work : posted) work();
}

void CallQueue::Lead(Thread& self) {
  NameThread("calls");
  void* tag = nullptr;
  bool ok = false;
  while (queue_->Next(&tag, &ok)) React(self, tag, ok);
}

void CallQueue::Help(Thread& self) {
  NameThread("calls helper");
  void* tag = nullptr;
  bool ok = false;
  while (true) {
    {
      const absl::MutexLock lock(&help_);
      help_.Await(absl::Condition(this, &CallQueue::needs_help));
    }
    const auto status = queue_->AsyncNext(&tag, &ok, absl::ToChronoTime(absl::Now() + kHelpFor));
    if (status == grpc::CompletionQueue::SHUTDOWN) return;
    if (status == grpc::CompletionQueue::GOT_EVENT) React(self, tag, ok);
  }
}

void CallQueue::React(Thread& self, void* tag, bool ok) {
  self.progress.AddEvent();
  const OperationScope scope;
  const absl::MutexLock lock(&reaction_);
  if (tag == &alarm_) return RunPosted();
  if (tag == &delay_) return TakeDelayed();
  const auto& operation = *static_cast<CallOnWire::Operation*>(tag);
  (operation.call.*operation.end)(ok);
}

net::ServerLoad CallQueue::Supervise() {
  absl::Duration longest;
  bool is_light = true;
  for (Thread& one : threads_) {
    longest = std::max(longest, one.progress.SinceEvent(one.thread));
    is_light &= one.progress.is_waiting();
  }
  if (longest > kHelpAfter) {
    const absl::MutexLock lock(&help_);
    help_until_ = std::max(help_until_, SteadyAfter(kHelpFor));
  }
  if (longest > kStuckAfter) return net::ServerLoad::kStuck;
  return is_light ? net::ServerLoad::kLight : net::ServerLoad::kBusy;
}

bool CallQueue::AddOnWire() {
  const absl::MutexLock lock(&mutex_);
  if (state_ == State::kStopped) return false;
  ++on_wire_;
  return true;
}

void CallQueue::TakeNext(const Method& method) {
  const SteadyTime now = SteadyNow();
  if (now >= new_calls_end_) {
    new_calls_ = 0;
    new_calls_end_ = now + absl::ToChronoNanoseconds(kNewCallsTime);
  }
  if (++new_calls_ <= kMostNewCalls) return Take(method);
  delayed_.push_back(&method);
  if (delayed_.size() == 1) delay_.Set(queue_.get(), absl::ToChronoTime(absl::Now() + kNewCallsTime), &delay_);
}

void CallQueue::TakeDelayed() {
  // Starts a new span of time, so that no alarm is set again: there are fewer methods than calls in a span.
  new_calls_end_ = kLongAgo;
  for (const Method* method : std::exchange(delayed_, {})) TakeNext(*method);
}

CallOnWire::CallOnWire(CallQueue& queue, const CallQueue::Method& method) : queue_(queue), method_(method) {}

CallOnWire::~CallOnWire() {
  const absl::MutexLock lock(&queue_.mutex_);
  --queue_.on_wire_;
}

void CallOnWire::Await(CallQueue& queue, const CallQueue::Method& method) {
  if (!queue.AddOnWire()) return;
  auto* call = new CallOnWire(queue, method);
  call->context_.AsyncNotifyWhenDone(&call->over_);
  StartInScope([call] { call->method_.request(call->context_, call->stream_, &call->requested_); });
}

void CallOnWire::OnRequested(bool ok) {
  if (!ok) return delete this;  // the server was shut down
  queue_.TakeNext(method_);
  peer_ = context_.peer();
  queue_.calls_.AddBeginning(peer_);
  absl::StatusOr<std::shared_ptr<RawCall>> call = method_.make(context_);
  if (call.ok()) {
    call_ = *std::move(call);
    call_->BeginOn(*this, queue_.calls_);
  } else {
    queue_.calls_.AddRefusal(peer_);
    Finish(ToGrpc(call.status()));
  }
}

void CallOnWire::Read(grpc::ByteBuffer* message) {
  ++operations_;
  StartInScope([this, message] { stream_.Read(message, &read_); });
}

void CallOnWire::Write(const grpc::ByteBuffer& message) {
  ++operations_;
  StartInScope([this, message] { stream_.Write(message, &written_); });
}

void CallOnWire::WriteAndRead(const grpc::ByteBuffer& message, grpc::ByteBuffer* next) {
  ++operations_;
  StartInScope([this, message, next] {
    // Fails only for messages that need to be serialised.
    write_and_read_.SendMessage(message).IgnoreError();
    write_and_read_.RecvMessage(next);
    write_and_read_.set_output_tag(&read_);
    grpc::internal::Call call(context_.c_call(), nullptr, queue_.queue());
    write_and_read_.FillOps(&call);
  });
}

void CallOnWire::WriteAndFinish(const grpc::ByteBuffer& message, const grpc::Status& status) {
  StartInScope([this, message, status] { stream_.WriteAndFinish(message, grpc::WriteOptions(), status, &finished_); });
}

void CallOnWire::Finish(const grpc::Status& status) {
  StartInScope([this, status] { stream_.Finish(status, &finished_); });
}

void CallOnWire::SetTimer(absl::Duration duration) {
  ++operations_;
  timer_.emplace().Set(queue_.queue(), absl::ToChronoTime(absl::Now() + duration), &timed_);
}

void CallOnWire::CancelTimer() {
  if (timer_) timer_->Cancel();
}

void CallOnWire::OnRead(bool ok) {
  has_message_ |= ok;
  call_->OnReadDone(ok);
  EndOperation();
}

void CallOnWire::OnWritten(bool ok) {
  call_->OnWriteDone(ok);
  EndOperation();
}

void CallOnWire::OnTimer(bool /*ok*/) {
  call_->OnTimer();
  EndOperation();
}

void CallOnWire::OnFinished(bool /*ok*/) { EndOperation(); }

void CallOnWire::OnOver(bool /*ok*/) {
  if (call_ != nullptr && context_.IsCancelled()) call_->OnCancel();
  EndOperation();
}

void CallOnWire::EndOperation() {
  if (--operations_ > 0) return;
  if (call_ != nullptr) {
    call_->OnDone();
    if (!has_message_) queue_.calls_.AddAbandoned(peer_);
  } else {
    queue_.calls_.RemoveRefusal();
  }
  queue_.calls_.AddEnd(peer_);
  StartInScope([this] { delete this; });  // gRPC may read the socket in it, too
}

}  // namespace telemetry::call
