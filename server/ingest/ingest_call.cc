#include "server/ingest/ingest_call.h"

#include <memory>
#include <utility>

#include "proto/base/status_macros.h"
#include "proto/base/steady.h"
#include "server/batch/parsed_batch.h"
#include "server/call/grpc_status.h"
#include "server/call/message_buffer.h"
#include "server/ingest/ingest_stream.h"
#include "server/ingest/producer_opening.h"

namespace telemetry::ingest {

IngestCall::IngestCall(const IngestContext& context, ParseQueue& parsers, call::AdmittedCall call)
    : call::UnaryCall(std::move(call), context.gate,
                      {.request = context.limits.stream_idle_timeout, .unread = context.limits.unread_timeout}),
      context_(context),
      parsers_(parsers) {}

void IngestCall::OnRequest() {
  Run([self = Self()] { self->HandleRequest(); }, request().Length() <= call::kMaxSmallMessageBytes);
}

void IngestCall::Run(std::function<void()> work, bool is_cheap) {
  if (is_cheap) return work();
  if (absl::Status status = parsers_.Run(sender(), request().Length(), std::move(work)); !status.ok()) {
    End(std::move(status));
  }
}

void IngestCall::HandleRequest() {
  if (absl::Status status = Read(); !status.ok()) return End(std::move(status));
  const v1::Open& open = *outline_.open;
  context_.writer.Open(ProducerOpening(open, caller().name, context_.writer.dataset_id()),
                       [self = Self()](const storage::OpenOutcome& outcome) { self->OnOpened(outcome); });
}

absl::Status IngestCall::Read() {
  ASSIGN_OR_RETURN(batch::RequestOutline outline, batch::ReadOutline(request(), context_.piece_limits()));
  outline_ = std::move(outline);
  if (!outline_.open) outline_.open.emplace();
  const v1::Open& open = *outline_.open;
  SetProducer(open.producer_id());
  absl::Status status = batch::CheckOpen(open);
  if (status.ok()) status = context_.gate.AdmitProducer(caller(), kMethod, open.producer_id(), open.client());
  if (status.ok() && outline_.batch) status = batch::CheckBatch(*outline_.batch, context_.limits);
  if (!status.ok() || !outline_.batch) return status;
  // A unary call cannot be delayed by not reading, so a producer that is too fast must retry later.
  const absl::Duration wait = context_.rates.Take(open.producer_id(), 0, SteadyNow());
  if (wait <= absl::ZeroDuration()) return status;
  return call::TryAgainLater("this producer sends more than producer_bytes_per_second", wait);
}

void IngestCall::OnOpened(const storage::OpenOutcome& outcome) {
  if (!outcome.status.ok()) return End(outcome.status);
  context_.streams.TakeOver(outline_.open->producer_id(), outline_.open->epoch(), nullptr);
  v1::Opened* opened = answer_.mutable_opened();
  opened->set_committed_seq(outcome.committed_seq);
  opened->set_window_bytes(context_.limits.window_bytes);
  opened->set_max_batch_bytes(context_.limits.max_batch_bytes);
  opened->set_dataset_id(context_.writer.dataset_id());
  if (!outline_.batch) return Answer(call::ToBuffer(answer_));
  const v1::Open& open = *outline_.open;
  const bool is_cheap = outline_.batch->pieces.size() == 1;
  batch_.emplace(open.producer_id(), open.epoch(), *std::move(outline_.batch), request(), context_.limits.record);
  Run([self = Self()] { self->AdmitPieces(); }, is_cheap);
}

void IngestCall::AdmitPieces() {
  while (true) {
    need_ = Admission::NeedOf(outline_.open->producer_id(), batch_->next());
    if (!context_.admission.TryAdmit(sender(), need_)) break;
    if (!HandleAdmitted(absl::OkStatus())) return;
  }
  context_.admission.Admit(sender(), need_, request().Length(), [self = Self()](absl::Status status) {
    if (self->HandleAdmitted(std::move(status))) self->AdmitPieces();
  });
}

bool IngestCall::HandleAdmitted(absl::Status status) {
  if (status.ok() && has_ended()) {
    context_.admission.Release(sender(), need_);
    status = absl::CancelledError("the call has ended");
  }
  if (status.ok()) {
    CommitPiece();
    if (!batch_->done()) return true;
  }
  batch_.reset();
  request().Clear();
  EndJob(status);
  return false;
}

void IngestCall::CommitPiece() {
  std::unique_ptr<batch::ParsedBatch> piece = batch_->ParseNext();
  context_.too_large_records += piece->too_large();
  context_.rates.Take(outline_.open->producer_id(), piece->bytes(), SteadyNow());
  {
    absl::MutexLock lock(&mutex_);
    ++jobs_;
  }
  context_.writer.Commit(sender(), std::move(piece), [self = Self(), need = need_](storage::BatchOutcome outcome) {
    self->context_.admission.Release(self->sender(), need);
    self->OnCommitted(std::move(outcome));
  });
}

void IngestCall::OnCommitted(storage::BatchOutcome outcome) {
  const absl::Status status = outcome.status;
  if (status.ok()) {
    absl::MutexLock lock(&mutex_);
    AddOutcome(std::move(outcome), *answer_.mutable_ack());
  }
  EndJob(status);
}

void IngestCall::EndJob(const absl::Status& status) {
  absl::Status end;
  {
    absl::MutexLock lock(&mutex_);
    status_.Update(status);
    if (--jobs_ > 0) return;
    end = status_;
  }
  if (!end.ok()) return End(std::move(end));
  Answer(call::ToBuffer(answer_));
}

}  // namespace telemetry::ingest
