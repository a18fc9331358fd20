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
#include "server/ingest/parse_queue.h"
#include "telemetry/v1/ingest.pb.h"

namespace telemetry::ingest {

// The unary counterpart of IngestStream: opens the producer, admits and commits the batch piece by piece, and replies
// when all pieces are committed. Pending callbacks share ownership of the call, which may end before they run.
class IngestCall final : public call::UnaryCall {
 public:
  static constexpr char kMethod[] = "/telemetry.v1.IngestService/Ingest";

  // `context` and `parsers` must outlive the call.
  IngestCall(const IngestContext& context, ParseQueue& parsers, call::AdmittedCall call);

 private:
  void OnRequest() override;
  void HandleRequest();
  // Runs `work` on the request: here if it is cheap, otherwise on another thread.
  void Run(std::function<void()> work, bool is_cheap);
  absl::Status Read();
  void OnOpened(const storage::OpenOutcome& outcome);
  // Commits the remaining pieces of the batch, each after its admission.
  void AdmitPieces();
  // Commits the next piece, or ends the batch if `status` is an error. Returns true if the batch has further pieces.
  bool HandleAdmitted(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);
  // Parses the next piece and hands it to the writer, which starts a job.
  void CommitPiece() ABSL_LOCKS_EXCLUDED(mutex_);
  void OnCommitted(storage::BatchOutcome outcome) ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends a job. The last job sends the reply; the first error becomes the status of the call.
  void EndJob(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  std::shared_ptr<IngestCall> Self() { return std::static_pointer_cast<IngestCall>(shared_from_this()); }

  const IngestContext& context_;
  ParseQueue& parsers_;
  batch::RequestOutline outline_;
  std::optional<batch::BatchParser> batch_;
  Admission::Need need_;  // of the piece that is being admitted or was admitted last

  absl::Mutex mutex_;
  int jobs_ ABSL_GUARDED_BY(mutex_) = 1;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  // Written under the lock while jobs are pending; read by the last job without it.
  v1::IngestResponse answer_;
};

}  // namespace telemetry::ingest
