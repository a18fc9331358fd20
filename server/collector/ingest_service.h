#pragma once

#include "server/collector/ingest_context.h"
#include "telemetry/v1/ingest.grpc.pb.h"

namespace telemetry::collector {

// IngestService as ingest.proto documents it. Its requests come as they are on the wire: what is in them is admitted
// before it is parsed.
class IngestService final : public v1::IngestService::WithRawCallbackMethod_Stream<
                                v1::IngestService::WithRawCallbackMethod_Ingest<v1::IngestService::Service>> {
 public:
  explicit IngestService(const IngestContext& context) : context_(context) {}

 private:
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Stream(grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* Ingest(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* response) override;

  const IngestContext context_;
};

}  // namespace telemetry::collector
