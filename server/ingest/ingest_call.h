#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/batch/batch_parser.h"
#include "server/batch/request_outline.h"
#include "server/call/unary_call.h"
#include "server/ingest/ingest_context.h"
#include "server/ingest/thread_pool.h"
#include "telemetry/v1/ingest.pb.h"

namespace telemetry::collector {

// The unary twin of IngestStream: opens, admits and commits the batch piece by piece, and answers when all is
// committed. Whoever calls back shares the call, which may have ended meanwhile.
class IngestCall final : public UnaryCall {
 public:
  static constexpr char kMethod[] = "/telemetry.v1.IngestService/Ingest";

  // `context` and `parsers` outlive the call.
  IngestCall(const IngestContext& context, ThreadPool& parsers, AdmittedCall call);

 private:
  void OnRequest() override;
  void HandleRequest();
  // Runs work on the request, on another thread where it may take long.
  void RunParser(std::function<void()> work);
  absl::Status Read();
  void OnOpened(absl::StatusOr<uint64_t> committed_seq);
  void AdmitPiece();
  void OnAdmitted(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);
  // Parses the next piece and hands it to the writer: a job.
  void CommitPiece() ABSL_LOCKS_EXCLUDED(mutex_);
  void OnCommitted(storage::BatchOutcome outcome) ABSL_LOCKS_EXCLUDED(mutex_);
  // Answers with the last job; the first error is the call's status.
  void EndJob(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  std::shared_ptr<IngestCall> Self() { return std::static_pointer_cast<IngestCall>(shared_from_this()); }

  const IngestContext& context_;
  ThreadPool& parsers_;
  RequestOutline outline_;
  std::optional<BatchParser> batch_;

  absl::Mutex mutex_;
  int jobs_ ABSL_GUARDED_BY(mutex_) = 1;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  // Written under the lock while there are jobs; read by the last one.
  v1::IngestResponse answer_;
};

}  // namespace telemetry::collector
