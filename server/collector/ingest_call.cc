#include "server/collector/ingest_call.h"

#include <memory>
#include <utility>

#include "server/collector/grpc_status.h"
#include "server/collector/ingest_stream.h"
#include "server/collector/parsed_batch.h"

namespace telemetry::collector {

IngestCall::IngestCall(const IngestContext& context, access::Caller caller, const v1::IngestRequest& request,
                       v1::IngestResponse& response)
    : context_(context), caller_(std::move(caller)), request_(request), response_(response) {
  if (absl::Status status = Check(); !status.ok()) {
    End(status);
    return;
  }
  const v1::Open& open = request_.open();
  context_.writer.Open({open.producer_id(), open.epoch(), open.client(), caller_.name},
                       [this](absl::StatusOr<uint64_t> committed_seq) { OnOpened(std::move(committed_seq)); });
}

absl::Status IngestCall::Check() const {
  absl::Status status = CheckOpen(request_.open());
  if (status.ok()) {
    status = context_.gate.AdmitProducer(caller_, kMethod, request_.open().producer_id(), request_.open().client());
  }
  if (status.ok() && request_.has_batch()) status = CheckBatch(request_.batch(), context_.limits);
  return status;
}

void IngestCall::OnOpened(absl::StatusOr<uint64_t> committed_seq) {
  if (!committed_seq.ok()) return End(committed_seq.status());
  context_.streams.TakeOver(request_.open().producer_id(), request_.open().epoch(), nullptr);
  v1::Opened* opened = response_.mutable_opened();
  opened->set_committed_seq(*committed_seq);
  opened->set_window_bytes(context_.limits.window_bytes);
  opened->set_max_batch_bytes(context_.limits.max_batch_bytes);
  opened->set_dataset_id(context_.writer.dataset_id());
  if (!request_.has_batch()) return End(absl::OkStatus());
  context_.admission.Admit(MemoryBytes(request_.batch()), [this](const absl::Status& status) { OnAdmitted(status); });
}

void IngestCall::OnAdmitted(const absl::Status& status) {
  if (!status.ok()) return End(status);
  const v1::Open& open = request_.open();
  auto batch = std::make_unique<ParsedBatch>(open.producer_id(), open.epoch(), request_.batch());
  const uint64_t memory_bytes = batch->memory_bytes();
  context_.writer.Commit(std::move(batch), [this, memory_bytes](storage::BatchOutcome outcome) {
    context_.admission.Release(memory_bytes);
    OnCommitted(std::move(outcome));
  });
}

void IngestCall::OnCommitted(storage::BatchOutcome outcome) {
  const absl::Status status = outcome.status;
  if (status.ok()) AddOutcome(std::move(outcome), *response_.mutable_ack());
  End(status);
}

void IngestCall::End(const absl::Status& status) {
  context_.gate.LogEnd(caller_, kMethod, request_.open().producer_id(), status);
  Finish(ToGrpc(status));
}

}  // namespace telemetry::collector
