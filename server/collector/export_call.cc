#include "server/collector/export_call.h"

#include <grpcpp/server_context.h>

#include "server/collector/grpc_status.h"

namespace telemetry::collector {

void ExportCall::Run(absl::StatusOr<ReaderPool::Borrowed> reader) {
  absl::Status status = reader.status();
  if (status.ok()) status = (*reader)->Export(request_, [this](const v1::ExportItem& item) { return Write(item); });
  on_end_(status);
  Finish(ToGrpc(status));
}

absl::Status ExportCall::Write(const v1::ExportItem& item) {
  if (cancelled_) return absl::CancelledError("the client has gone");
  if (draining_) return absl::UnavailableError("the collector is shutting down: export again");
  {
    absl::MutexLock lock(&mutex_);
    written_.reset();
  }
  StartWrite(&item);
  absl::MutexLock lock(&mutex_);
  const auto done = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return written_.has_value(); };
  if (!write_done_.Await(mutex_, SteadyAfter(unread_timeout_), done)) {
    call_.TryCancel();
    write_done_.Await(mutex_, kNever, done);
    return absl::DeadlineExceededError("the client does not read what it is sent");
  }
  return *written_ ? absl::OkStatus() : absl::CancelledError("the client has gone");
}

void ExportCall::OnWriteDone(bool ok) {
  absl::MutexLock lock(&mutex_);
  written_ = ok;
  write_done_.NotifyAll();
}

}  // namespace telemetry::collector
