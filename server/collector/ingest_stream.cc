#include "server/collector/ingest_stream.h"

#include <grpcpp/server_context.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/collector/grpc_status.h"
#include "server/collector/message_buffer.h"
#include "server/collector/parsed_batch.h"

namespace telemetry::collector {

void AddOutcome(storage::BatchOutcome outcome, v1::Ack& ack) {
  ack.set_committed_seq(std::max(ack.committed_seq(), outcome.committed_seq));
  for (storage::RefusedRecord& refused : outcome.refused) {
    v1::Ack::Refused* entry = ack.add_rejects();
    entry->set_seq(refused.seq);
    entry->set_reason(refused.reason);
    entry->set_message(std::move(refused.message));
  }
}

IngestStream::IngestStream(const IngestContext& context, grpc::CallbackServerContext& call, access::Caller caller)
    : context_(context),
      call_(call),
      caller_(std::move(caller)),
      ack_claim_(context.unread_ack_bytes),
      response_claim_(context.unread_ack_bytes) {
  StartRead(&request_);
  if (absl::Status status = context_.streams.Add(this); !status.ok()) End(std::move(status));
}

void IngestStream::OnReadDone(bool ok) {
  // The client has nothing more to say; what it has said is still acknowledged.
  if (!ok) return End(open_ ? absl::OkStatus() : absl::InvalidArgumentError("the stream ended before an Open"));
  absl::StatusOr<RequestOutline> request = ReadOutline(request_);
  if (!request.ok()) return End(request.status());
  if (request->open.has_value() == request->batch.has_value()) {
    return End(absl::InvalidArgumentError("the message is neither Open nor Batch"));
  }
  if (request->batch) return HandleBatch(*request->batch);
  HandleOpen(*request->open);
}

void IngestStream::HandleOpen(const v1::Open& open) {
  if (open_) return End(absl::InvalidArgumentError("Open may come only once, as the first message"));
  absl::Status status = CheckOpen(open);
  if (status.ok()) status = context_.gate.AdmitProducer(caller_, kMethod, open.producer_id(), open.client());
  if (status.ok()) status = context_.streams.Claim(this, open.producer_id());
  if (!status.ok()) return End(std::move(status));
  {
    absl::MutexLock lock(&mutex_);
    open_ = true;
    producer_id_ = open.producer_id();
    epoch_ = open.epoch();
    if (end_) return;
    ++jobs_;
  }
  context_.writer.Open({producer_id_, epoch_, open.client(), caller_.name},
                       [this](absl::StatusOr<uint64_t> committed_seq) {
                         // Before this stream can finish, and with it leave the registry.
                         if (committed_seq.ok()) context_.streams.TakeOver(producer_id_, epoch_, this);
                         OnOpened(std::move(committed_seq));
                       });
}

void IngestStream::OnOpened(absl::StatusOr<uint64_t> committed_seq) {
  std::optional<grpc::Status> finish;
  {
    absl::MutexLock lock(&mutex_);
    --jobs_;
    if (committed_seq.ok()) {
      opened_.emplace();
      opened_->set_committed_seq(*committed_seq);
      opened_->set_window_bytes(context_.limits.window_bytes);
      opened_->set_max_batch_bytes(context_.limits.max_batch_bytes);
      opened_->set_dataset_id(context_.writer.dataset_id());
      WriteOn();
      ReadOn();
    } else {
      SetEnd(committed_seq.status());
    }
    finish = TakeFinish();
  }
  if (finish) Finish(*finish);
}

void IngestStream::HandleBatch(const BatchOutline& batch) {
  if (!open_) return End(absl::InvalidArgumentError("the first message must be Open"));
  if (absl::Status status = CheckBatch(batch, context_.limits); !status.ok()) return End(std::move(status));
  batch_ = batch;
  {
    absl::MutexLock lock(&mutex_);
    if (end_) return;
    ++jobs_;
  }
  if (absl::Status status = ReserveWindow(batch.record_bytes); !status.ok()) return OnAdmitted(std::move(status));
  context_.admission.Admit(batch.memory_bytes, request_.Length(),
                           [this](absl::Status status) { OnAdmitted(std::move(status)); });
}

absl::Status IngestStream::ReserveWindow(uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  if (unacked_bytes_ + bytes > context_.limits.window_bytes) {
    return TryAgainLater(absl::StrCat("more than window_bytes (", context_.limits.window_bytes, ") are unacknowledged"),
                         context_.limits.retry_delay);
  }
  unacked_bytes_ += bytes;
  return absl::OkStatus();
}

void IngestStream::OnAdmitted(absl::Status status) {
  std::optional<grpc::Status> finish;
  absl::Duration delay;
  if (status.ok()) {
    // The job goes on: the commit ends it.
    auto batch = std::make_unique<ParsedBatch>(producer_id_, epoch_, batch_, request_, context_.limits.record);
    request_.Clear();
    context_.too_large_records += batch->too_large();
    delay = context_.rates.Take(producer_id_, batch->bytes(), SteadyNow());
    const uint64_t bytes = batch->bytes();
    const uint64_t memory_bytes = batch->memory_bytes();
    {
      absl::MutexLock lock(&mutex_);
      ++jobs_;
    }
    context_.writer.Commit(std::move(batch), [this, bytes, memory_bytes](storage::BatchOutcome outcome) {
      context_.admission.Release(memory_bytes);
      OnCommitted(bytes, std::move(outcome));
    });
  }
  {
    absl::MutexLock lock(&mutex_);
    --jobs_;
    if (!status.ok()) SetEnd(std::move(status));
    ReadOnAfter(delay);
    finish = TakeFinish();
  }
  if (finish) Finish(*finish);
}

void IngestStream::OnCommitted(uint64_t bytes, storage::BatchOutcome outcome) {
  std::optional<grpc::Status> finish;
  bool deaf = false;
  {
    absl::MutexLock lock(&mutex_);
    unacked_bytes_ -= bytes;
    if (!outcome.status.ok()) {
      SetEnd(std::move(outcome.status));
    } else if (AddToAck(std::move(outcome))) {
      WriteOn();
    } else {
      SetEnd(absl::CancelledError("the client does not read its Acks"));
      deaf = !std::exchange(cut_off_, true);
    }
  }
  // The job is not over yet, so that the stream is still there.
  if (deaf) {
    context_.streams.Count(Overdue::kReading);
    call_.TryCancel();
  }
  {
    absl::MutexLock lock(&mutex_);
    --jobs_;
    finish = TakeFinish();
  }
  if (finish) Finish(*finish);
}

bool IngestStream::AddToAck(storage::BatchOutcome outcome) {
  uint64_t bytes = 0;
  for (const storage::RefusedRecord& refused : outcome.refused) bytes += sizeof(refused) + refused.message.size();
  if (!ack_) ack_.emplace();
  AddOutcome(std::move(outcome), *ack_);
  const bool room = ack_claim_.Add(bytes) <= context_.limits.unread_ack_bytes;
  return room || bytes == 0 || !writing_;
}

void IngestStream::OnDelayOver() {
  std::optional<grpc::Status> finish;
  {
    absl::MutexLock lock(&mutex_);
    --jobs_;
    ReadOn();
    finish = TakeFinish();
  }
  if (finish) Finish(*finish);
}

void IngestStream::OnWriteDone(bool ok) {
  std::optional<grpc::Status> finish;
  {
    absl::MutexLock lock(&mutex_);
    writing_ = false;
    response_claim_.Release();
    if (!ok) {
      SetEnd(absl::CancelledError("the client has gone"));
      opened_.reset();
      ack_.reset();
      ack_claim_.Release();
    }
    WriteOn();
    finish = TakeFinish();
  }
  if (finish) Finish(*finish);
}

void IngestStream::OnCancel() { End(absl::CancelledError("the client has gone")); }

void IngestStream::OnDone() {
  context_.streams.Remove(this);
  delete this;
}

void IngestStream::End(absl::Status status) {
  std::optional<grpc::Status> finish;
  {
    absl::MutexLock lock(&mutex_);
    SetEnd(std::move(status));
    finish = TakeFinish();
  }
  if (finish) Finish(*finish);
}

Overdue IngestStream::CheckTime(SteadyTime now) {
  std::optional<grpc::Status> finish;
  Overdue overdue = Overdue::kNothing;
  {
    absl::MutexLock lock(&mutex_);
    overdue = FindOverdue(now);
    finish = TakeFinish();
  }
  if (overdue == Overdue::kReading) call_.TryCancel();
  if (finish) Finish(*finish);
  return overdue;
}

Overdue IngestStream::FindOverdue(SteadyTime now) {
  const auto longer = [now](SteadyTime since, absl::Duration than) { return absl::FromChrono(now - since) > than; };
  const Limits& limits = context_.limits;
  if (writing_ && !cut_off_ && longer(written_at_, limits.unread_timeout)) {
    cut_off_ = true;
    SetEnd(absl::CancelledError("the client does not read what it is sent"));
    return Overdue::kReading;
  }
  if (end_ || jobs_ > 0) return Overdue::kNothing;
  if (!open_ && longer(began_at_, limits.open_timeout)) {
    SetEnd(absl::DeadlineExceededError("the stream has not said whose it is within open_timeout"));
    return Overdue::kOpen;
  }
  if (longer(read_at_, limits.stream_idle_timeout)) {
    SetEnd(absl::DeadlineExceededError("the stream has sent no whole message within stream_idle_timeout"));
    return Overdue::kMessage;
  }
  return Overdue::kNothing;
}

void IngestStream::SetEnd(absl::Status status) {
  if (delay_) delay_->Cancel();
  // After a half-close the outcome of what was read still decides.
  if (!end_ || (end_->ok() && !finished_)) end_ = std::move(status);
}

void IngestStream::ReadOnAfter(absl::Duration delay) {
  if (delay <= absl::ZeroDuration() || end_) return ReadOn();
  ++jobs_;
  delay_.emplace().Set(absl::ToChronoTime(absl::Now() + delay), [this](bool /*expired*/) { OnDelayOver(); });
}

void IngestStream::ReadOn() {
  if (end_) return;
  read_at_ = SteadyNow();
  StartRead(&request_);
}

void IngestStream::WriteOn() {
  if (writing_ || finished_ || (!opened_ && !ack_)) return;
  v1::StreamResponse response;
  if (opened_) {
    *response.mutable_opened() = *std::exchange(opened_, std::nullopt);
  } else {
    *response.mutable_ack() = *std::exchange(ack_, std::nullopt);
    response_claim_.Take(ack_claim_);
  }
  response_ = ToBuffer(response);
  writing_ = true;
  written_at_ = SteadyNow();
  StartWrite(&response_);
}

std::optional<grpc::Status> IngestStream::TakeFinish() {
  if (!end_ || jobs_ > 0 || writing_ || finished_) return std::nullopt;
  finished_ = true;
  context_.gate.LogEnd(caller_, kMethod, producer_id_, *end_);
  return ToGrpc(*end_);
}

}  // namespace telemetry::collector
