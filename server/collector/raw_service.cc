#include "server/collector/raw_service.h"

#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <grpcpp/impl/rpc_service_method.h>

#include <utility>

#include "absl/status/statusor.h"
#include "server/collector/grpc_status.h"

namespace telemetry::collector {
namespace {

using Reactor = grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;

}  // namespace

RefusedCall::RefusedCall(RunningCalls& calls, const std::string& peer, const absl::Status& why) : calls_(calls) {
  calls_.AddRefusal(peer);
  Finish(ToGrpc(why));
}

void RefusedCall::OnDone() {
  calls_.RemoveRefusal();
  delete this;
}

grpc::ServerGenericBidiReactor* UnknownMethods::CreateReactor(grpc::GenericCallbackServerContext* context) {
  return new RefusedCall(calls_, context->peer(), absl::UnimplementedError("there is no such method"));
}

void RawCall::OnDone() {
  calls_->Remove(this);
  self_.reset();
}

void RawService::AddMethod(const char* method, CallKind kind, Make make) {
  grpc::Service::AddMethod(
      new grpc::internal::RpcServiceMethod(method, grpc::internal::RpcMethod::BIDI_STREAMING, nullptr));
  MarkMethodRawCallback(
      methods_++, new grpc::internal::CallbackBidiHandler<grpc::ByteBuffer, grpc::ByteBuffer>(
                      [this, method, kind, make = std::move(make)](grpc::CallbackServerContext* context) -> Reactor* {
                        absl::StatusOr<AdmittedCall> call = calls_.Admit(*context, method, kind);
                        if (!call.ok()) return new RefusedCall(calls_, context->peer(), call.status());
                        std::shared_ptr<RawCall> made = make(*std::move(call));
                        RawCall& reactor = *made;
                        reactor.calls_ = &calls_;
                        reactor.self_ = std::move(made);
                        calls_.Add(&reactor, reactor.call_);
                        reactor.Begin();
                        return &reactor;
                      }));
}

}  // namespace telemetry::collector
