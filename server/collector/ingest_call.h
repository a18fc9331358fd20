#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <cstdint>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/collector/batch_parser.h"
#include "server/collector/ingest_context.h"
#include "server/collector/request_outline.h"
#include "telemetry/v1/ingest.pb.h"

namespace telemetry::collector {

// The unary twin of IngestStream: opens, admits and commits the batch piece by piece, and answers when all is
// committed. It deletes itself when gRPC is done with it.
class IngestCall final : public grpc::ServerUnaryReactor {
 public:
  static constexpr char kMethod[] = "/telemetry.v1.IngestService/Ingest";

  // Context, request and response must outlive the call; `caller` was admitted to kMethod.
  IngestCall(const IngestContext& context, access::Caller caller, const grpc::ByteBuffer& request,
             grpc::ByteBuffer& response);

 private:
  absl::Status Read();
  void OnOpened(absl::StatusOr<uint64_t> committed_seq);
  void AdmitPiece();
  void OnAdmitted(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  // Parses the next piece and hands it to the writer: a job.
  void CommitPiece() ABSL_LOCKS_EXCLUDED(mutex_);
  void OnCommitted(storage::BatchOutcome outcome) ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends the call with its last job; the first error is its status.
  void EndJob(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  void End(const absl::Status& status);
  void OnDone() override { delete this; }

  const IngestContext& context_;
  const access::Caller caller_;
  const grpc::ByteBuffer& request_;
  grpc::ByteBuffer& response_;
  RequestOutline outline_;
  std::optional<BatchParser> batch_;

  absl::Mutex mutex_;
  int jobs_ ABSL_GUARDED_BY(mutex_) = 1;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  // Written under the lock while there are jobs; read by the last one.
  v1::IngestResponse answer_;
};

}  // namespace telemetry::collector
