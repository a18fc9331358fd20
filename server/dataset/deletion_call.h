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

namespace telemetry::dataset {

// A call of DeletionService.Delete. A pool thread finds the next attempts with a reader, and the writer removes them in
// one transaction. The search for more attempts begins when the client has received the message about these.
class DeletionCall final : public PageCall {
 public:
  static constexpr char kMethod[] = "/telemetry.v1.DeletionService/Delete";

  // `writer` and `gate` must outlive the call.
  DeletionCall(const PageCallContext& context, call::AdmittedCall call, writer::WriterLoop& writer, access::Gate& gate);

 private:
  absl::Status TakeRequest(const grpc::ByteBuffer& request) override;
  void BeginPage() override ABSL_LOCKS_EXCLUDED(audit_mutex_);
  void OnEnd(const absl::Status& status) override ABSL_LOCKS_EXCLUDED(audit_mutex_);

  // Begins the deletion if it has not begun, and returns the next attempts to remove.
  absl::StatusOr<storage::Removal> Find();
  // Returns the page for one transaction. A transaction that found nothing gets no message, unless it is the last one.
  Page MakePage(v1::DeleteStep step) const;
  void OnRemoved(absl::StatusOr<v1::DeleteStep> step) ABSL_LOCKS_EXCLUDED(audit_mutex_);
  // Logs the deletion if it has ended and the writer is not executing a part of it.
  void LogIfOver() ABSL_EXCLUSIVE_LOCKS_REQUIRED(audit_mutex_);

  writer::WriterLoop& writer_;
  access::Gate& gate_;
  v1::DeleteRequest request_;
  std::optional<storage::readers::Deletion> deletion_;  // used by the thread that builds the current page

  // May be acquired while PageCall's mutex is held, never the other way round.
  absl::Mutex audit_mutex_;
  bool has_begun_ ABSL_GUARDED_BY(audit_mutex_) = false;
  bool removing_ ABSL_GUARDED_BY(audit_mutex_) = false;
  DeletedCounts counts_ ABSL_GUARDED_BY(audit_mutex_);
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(audit_mutex_);
};

}  // namespace telemetry::dataset
