#include "server/collector/ingest_call.h"

#include <memory>
#include <utility>

#include "proto/clock/steady.h"
#include "server/collector/grpc_status.h"
#include "server/collector/ingest_stream.h"
#include "server/collector/message_buffer.h"
#include "server/collector/parsed_batch.h"

namespace telemetry::collector {

IngestCall::IngestCall(const IngestContext& context, access::Caller caller, const grpc::ByteBuffer& request,
                       grpc::ByteBuffer& response)
    : context_(context), caller_(std::move(caller)), request_(request), response_(response) {
  if (absl::Status status = Read(); !status.ok()) {
    End(status);
    return;
  }
  const v1::Open& open = *outline_.open;
  context_.writer.Open({open.producer_id(), open.epoch(), open.client(), caller_.name},
                       [this](absl::StatusOr<uint64_t> committed_seq) { OnOpened(std::move(committed_seq)); });
}

absl::Status IngestCall::Read() {
  absl::StatusOr<RequestOutline> outline = ReadOutline(request_);
  if (!outline.ok()) return outline.status();
  outline_ = *std::move(outline);
  if (!outline_.open) outline_.open.emplace();
  const v1::Open& open = *outline_.open;
  absl::Status status = CheckOpen(open);
  if (status.ok()) status = context_.gate.AdmitProducer(caller_, kMethod, open.producer_id(), open.client());
  if (status.ok() && outline_.batch) status = CheckBatch(*outline_.batch, context_.limits);
  if (!status.ok() || !outline_.batch) return status;
  // Nothing is read ahead here: who is too fast comes back later.
  const absl::Duration wait = context_.rates.Take(open.producer_id(), 0, SteadyNow());
  if (wait <= absl::ZeroDuration()) return status;
  return TryAgainLater("this producer sends more than producer_bytes_per_second", wait);
}

void IngestCall::OnOpened(absl::StatusOr<uint64_t> committed_seq) {
  if (!committed_seq.ok()) return End(committed_seq.status());
  context_.streams.TakeOver(outline_.open->producer_id(), outline_.open->epoch(), nullptr);
  v1::Opened* opened = answer_.mutable_opened();
  opened->set_committed_seq(*committed_seq);
  opened->set_window_bytes(context_.limits.window_bytes);
  opened->set_max_batch_bytes(context_.limits.max_batch_bytes);
  opened->set_dataset_id(context_.writer.dataset_id());
  if (!outline_.batch) return End(absl::OkStatus());
  const v1::Open& open = *outline_.open;
  batch_.emplace(open.producer_id(), open.epoch(), *std::move(outline_.batch), request_, context_.limits.record);
  AdmitPiece();
}

void IngestCall::AdmitPiece() {
  context_.admission.Admit(batch_->next().memory_bytes, request_.Length(),
                           [this](const absl::Status& status) { OnAdmitted(status); });
}

void IngestCall::OnAdmitted(const absl::Status& status) {
  if (status.ok()) {
    CommitPiece();
    if (!batch_->done()) return AdmitPiece();
  }
  EndJob(status);
}

void IngestCall::CommitPiece() {
  std::unique_ptr<ParsedBatch> piece = batch_->ParseNext();
  context_.too_large_records += piece->too_large();
  context_.rates.Take(outline_.open->producer_id(), piece->bytes(), SteadyNow());
  const uint64_t memory_bytes = piece->memory_bytes();
  {
    absl::MutexLock lock(&mutex_);
    ++jobs_;
  }
  context_.writer.Commit(std::move(piece), [this, memory_bytes](storage::BatchOutcome outcome) {
    context_.admission.Release(memory_bytes);
    OnCommitted(std::move(outcome));
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
  End(end);
}

void IngestCall::End(const absl::Status& status) {
  context_.gate.LogEnd(caller_, kMethod, outline_.open ? outline_.open->producer_id() : "", status);
  if (status.ok()) response_ = ToBuffer(answer_);
  Finish(ToGrpc(status));
}

}  // namespace telemetry::collector
