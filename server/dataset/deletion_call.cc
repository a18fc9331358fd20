#include "server/dataset/deletion_call.h"

#include <memory>
#include <string>
#include <utility>

#include "proto/base/status_macros.h"
#include "server/call/message_buffer.h"

namespace telemetry::dataset {

DeletionCall::DeletionCall(const PageCallContext& context, call::AdmittedCall call, writer::WriterLoop& writer,
                           access::Gate& gate)
    : PageCall(context, std::move(call),
               {.draining = "the collector is shutting down: repeat the deletion",
                .overdue = "the deletion took longer than the collector's --export-timeout: repeat the deletion"}),
      writer_(writer),
      gate_(gate) {}

absl::Status DeletionCall::TakeRequest(const grpc::ByteBuffer& request) { return call::FromBuffer(request, &request_); }

absl::StatusOr<storage::Removal> DeletionCall::Find() {
  ASSIGN_OR_RETURN(const ReaderPool::Borrowed reader, readers().Borrow());
  if (!deletion_) {
    ASSIGN_OR_RETURN(storage::readers::Deletion begun, reader->BeginDeletion(request_));
    deletion_ = std::move(begun);
  }
  return reader->Next(*deletion_);
}

DeletionCall::Page DeletionCall::MakePage(v1::DeleteStep step) const {
  step.set_through(deletion_->through());
  Page page;
  page.is_last = deletion_->done();
  if (page.is_last || step.attempts_size() > 0 || step.runs() > 0) page.Add(call::ToBuffer(step));
  return page;
}

void DeletionCall::BeginPage() {
  absl::StatusOr<storage::Removal> removal = Find();
  if (!removal.ok()) return Deliver(removal.status());
  if (request_.dry_run() || removal->empty()) {
    v1::DeleteStep step;
    for (v1::DeletedAttempt& attempt : removal->attempts) *step.add_attempts() = std::move(attempt);
    return Deliver(MakePage(std::move(step)));
  }
  {
    const absl::MutexLock lock(&audit_mutex_);
    if (end_) return;  // the call has ended meanwhile, and its log line is written
    has_begun_ = true;
    removing_ = true;
  }
  auto self = std::static_pointer_cast<DeletionCall>(shared_from_this());
  writer_.Remove(
      *std::move(removal), [self] { return !self->has_ended(); },
      [self](absl::StatusOr<v1::DeleteStep> step) { self->OnRemoved(std::move(step)); });
}

void DeletionCall::OnRemoved(absl::StatusOr<v1::DeleteStep> step) {
  {
    const absl::MutexLock lock(&audit_mutex_);
    removing_ = false;
    if (step.ok()) counts_.Add(*step);
    LogIfOver();
  }
  if (!step.ok()) return Deliver(step.status());
  Deliver(MakePage(*std::move(step)));
}

void DeletionCall::OnEnd(const absl::Status& status) {
  gate_.LogEnd(caller(), kMethod, "", status);
  const absl::MutexLock lock(&audit_mutex_);
  end_ = status;
  LogIfOver();
}

void DeletionCall::LogIfOver() {
  if (!has_begun_ || removing_ || !end_) return;
  const Deleter deleter = {
      .by = caller().name, .token_id = caller().token_id, .peer = caller().peer, .request_id = caller().request_id};
  LogDeletion(deleter, request_, counts_, std::string(end_->message()));
}

}  // namespace telemetry::dataset
