#include "server/collector/ingest_service.h"

#include "server/collector/ingest_call.h"
#include "server/collector/ingest_stream.h"

namespace telemetry::collector {

grpc::ServerBidiReactor<v1::StreamRequest, v1::StreamResponse>* IngestService::Stream(
    grpc::CallbackServerContext* /*context*/) {
  return new IngestStream(context_);
}

grpc::ServerUnaryReactor* IngestService::Ingest(grpc::CallbackServerContext* /*context*/,
                                                const v1::IngestRequest* request, v1::IngestResponse* response) {
  return new IngestCall(context_, *request, *response);
}

}  // namespace telemetry::collector
