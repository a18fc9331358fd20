#include "server/call/raw_service.h"

#include <grpcpp/impl/rpc_service_method.h>

#include <utility>

#include "absl/status/statusor.h"
#include "proto/base/status_macros.h"

namespace telemetry::call {

void RawCall::BeginOn(CallOnWire& wire, RunningCalls& calls) {
  wire_ = &wire;
  calls_ = &calls;
  calls.Add(this, call_);
  Begin();
}

void RawCall::OnDone() { calls_->Remove(this); }

void RawService::AddMethod(const char* method, CallKind kind, Make make) {
  const auto index = static_cast<int>(methods_.size());
  grpc::Service::AddMethod(
      new grpc::internal::RpcServiceMethod(method, grpc::internal::RpcMethod::BIDI_STREAMING, nullptr));
  MarkMethodRaw(index);
  methods_.push_back(
      {.request =
           [this, index](grpc::GenericServerContext& context, grpc::GenericServerAsyncReaderWriter& stream, void* tag) {
             RequestAsyncBidiStreaming(index, &context, &stream, queue_->queue(), queue_->queue(), tag);
           },
       .make = [this, method, kind, make = std::move(make)](
                   grpc::GenericServerContext& context) -> absl::StatusOr<std::shared_ptr<RawCall>> {
         ASSIGN_OR_RETURN(AdmittedCall call, calls_.Admit(context, method, kind));
         return make(std::move(call));
       }});
}

void RawService::Start(CallQueue& queue) {
  queue_ = &queue;
  for (const CallQueue::Method& method : methods_) queue.Take(method);
}

}  // namespace telemetry::call
