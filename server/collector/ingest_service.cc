#include "server/collector/ingest_service.h"

#include <utility>

#include "server/collector/grpc_status.h"
#include "server/collector/ingest_call.h"
#include "server/collector/ingest_stream.h"

namespace telemetry::collector {
namespace {

// A stream that ends before it begins.
class RefusedStream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  explicit RefusedStream(const absl::Status& why) { Finish(ToGrpc(why)); }

 private:
  void OnDone() override { delete this; }
};

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* IngestService::Stream(
    grpc::CallbackServerContext* context) {
  absl::StatusOr<access::Caller> caller = context_.gate.Admit(*context, IngestStream::kMethod);
  if (!caller.ok()) return new RefusedStream(caller.status());
  return new IngestStream(context_, *context, *std::move(caller));
}

grpc::ServerUnaryReactor* IngestService::Ingest(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                                grpc::ByteBuffer* response) {
  absl::StatusOr<access::Caller> caller = context_.gate.Admit(*context, IngestCall::kMethod);
  if (!caller.ok()) {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(ToGrpc(caller.status()));
    return reactor;
  }
  return new IngestCall(context_, *std::move(caller), *request, *response);
}

}  // namespace telemetry::collector
