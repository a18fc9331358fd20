#pragma once

#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/access/gate.h"
#include "server/dataset/deletion_log.h"
#include "server/dataset/page_call.h"
#include "server/storage/readers/deletion.h"
#include "server/writer/writer_loop.h"
#include "telemetry/v1/deletion.pb.h"

namespace telemetry::collector {

// One call of DeletionService.Delete. A thread of the pool finds the next attempts over a reader; the writer removes
// them in one transaction; the next ones are looked for when the client has taken the message about these.
class DeletionCall final : public PageCall {
 public:
  static constexpr char kMethod[] = "/telemetry.v1.DeletionService/Delete";

  // `writer` and `gate` outlive the call.
  DeletionCall(const PageCallContext& context, AdmittedCall call, WriterLoop& writer, access::Gate& gate);

 private:
  absl::Status TakeRequest(const grpc::ByteBuffer& request) override;
  void BeginPage() override ABSL_LOCKS_EXCLUDED(audit_mutex_);
  void OnEnd(const absl::Status& status) override ABSL_LOCKS_EXCLUDED(audit_mutex_);

  // Begins the deletion if it has not begun, and finds the next attempts.
  absl::StatusOr<storage::Removal> Find();
  // Makes the message about a transaction; none about one that found nothing, but for the last.
  Page PageOf(v1::DeleteStep step) const;
  void OnRemoved(absl::StatusOr<v1::DeleteStep> step) ABSL_LOCKS_EXCLUDED(audit_mutex_);
  // Logs the deletion once it has ended and the writer is not at it any more.
  void LogIfOver() ABSL_EXCLUSIVE_LOCKS_REQUIRED(audit_mutex_);

  WriterLoop& writer_;
  access::Gate& gate_;
  v1::DeleteRequest request_;
  std::optional<storage::Deletion> deletion_;  // of the page that is being made

  // Taken under the lock of PageCall, and never the other way round.
  absl::Mutex audit_mutex_;
  bool has_begun_ ABSL_GUARDED_BY(audit_mutex_) = false;
  bool removing_ ABSL_GUARDED_BY(audit_mutex_) = false;
  DeletedCounts counts_ ABSL_GUARDED_BY(audit_mutex_);
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(audit_mutex_);
};

}  // namespace telemetry::collector
