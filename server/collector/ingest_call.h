#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/collector/ingest_context.h"
#include "server/collector/request_outline.h"
#include "telemetry/v1/ingest.pb.h"

namespace telemetry::collector {

// The unary twin of IngestStream: open, admit, commit, answer, one after the other. It deletes itself when gRPC is done
// with it.
class IngestCall final : public grpc::ServerUnaryReactor {
 public:
  static constexpr char kMethod[] = "/telemetry.v1.IngestService/Ingest";

  // Context, request and response must outlive the call; `caller` was admitted to kMethod.
  IngestCall(const IngestContext& context, access::Caller caller, const grpc::ByteBuffer& request,
             grpc::ByteBuffer& response);

 private:
  absl::Status Read();
  void OnOpened(absl::StatusOr<uint64_t> committed_seq);
  void OnAdmitted(const absl::Status& status);
  void OnCommitted(storage::BatchOutcome outcome);
  void End(const absl::Status& status);
  void OnDone() override { delete this; }

  const IngestContext& context_;
  const access::Caller caller_;
  const grpc::ByteBuffer& request_;
  grpc::ByteBuffer& response_;
  RequestOutline outline_;
  v1::IngestResponse answer_;
};

}  // namespace telemetry::collector
