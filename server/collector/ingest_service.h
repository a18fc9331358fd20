#pragma once

#include "server/collector/ingest_context.h"
#include "telemetry/v1/ingest.grpc.pb.h"

namespace telemetry::collector {

// IngestService as ingest.proto documents it.
class IngestService final : public v1::IngestService::CallbackService {
 public:
  explicit IngestService(const IngestContext& context) : context_(context) {}

 private:
  grpc::ServerBidiReactor<v1::StreamRequest, v1::StreamResponse>* Stream(grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* Ingest(grpc::CallbackServerContext* context, const v1::IngestRequest* request,
                                   v1::IngestResponse* response) override;

  const IngestContext context_;
};

}  // namespace telemetry::collector
