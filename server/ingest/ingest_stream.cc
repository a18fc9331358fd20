#include "server/ingest/ingest_stream.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/batch/parsed_batch.h"
#include "server/call/grpc_status.h"
#include "server/call/operation_scope.h"
#include "server/ingest/producer_opening.h"

namespace telemetry::ingest {
namespace {

constexpr std::chrono::milliseconds kLastWrite{500};
// A message that arrives sooner after its read began was sent before the last Ack.
constexpr std::chrono::milliseconds kSoon{1};
constexpr size_t kShortAckBytes = 256;

}  // namespace

IngestStream::IngestStream(const IngestContext& context, ParseQueue& parsers, call::AdmittedCall call)
    : call::RawCall(std::move(call)), context_(context), parsers_(parsers), replies_(context) {}

template <typename Step>
void IngestStream::Change(Step step) {
  const call::OperationScope scope;
  std::optional<grpc::Status> finish;
  {
    absl::MutexLock lock(&mutex_);
    step();
    finish = TakeFinish();
  }
  if (finish) wire().Finish(*finish);
}

void IngestStream::OnReadDone(bool ok) {
  // The client has half-closed the stream; the records that it sent are still acknowledged.
  if (!ok)
    return EndAfterCommit(open_ ? absl::OkStatus() : absl::InvalidArgumentError("the stream ended before an Open"));
  CountMessage(request_);
  {
    absl::MutexLock lock(&mutex_);
    is_pipelining_ = SteadyNow() - reading_since_ < kSoon;
  }
  if (request_.Length() <= call::kMaxSmallMessageBytes) return HandleMessage(Thread::kPoller);
  absl::Status status =
      parsers_.Run(sender(), request_.Length(), [self = Self()] { self->HandleMessage(Thread::kParser); });
  if (!status.ok()) EndAfterCommit(std::move(status));
}

void IngestStream::HandleMessage(Thread thread) {
  absl::StatusOr<batch::RequestOutline> request = batch::ReadOutline(request_, context_.piece_limits());
  if (!request.ok()) return EndAfterCommit(request.status());
  if (request->open.has_value() == request->batch.has_value()) {
    return EndAfterCommit(absl::InvalidArgumentError("the message is neither Open nor Batch"));
  }
  if (request->batch) return HandleBatch(*std::move(request->batch), thread);
  HandleOpen(*request->open);
}

void IngestStream::HandleOpen(const v1::Open& open) {
  if (open_) return EndAfterCommit(absl::InvalidArgumentError("Open may come only once, as the first message"));
  absl::Status status = batch::CheckOpen(open);
  if (status.ok()) status = context_.gate.AdmitProducer(caller(), kMethod, open.producer_id(), open.client());
  if (status.ok()) status = context_.streams.Claim(this, open.producer_id());
  if (!status.ok()) return EndAfterCommit(std::move(status));
  {
    absl::MutexLock lock(&mutex_);
    open_ = true;
    producer_id_ = open.producer_id();
    epoch_ = open.epoch();
    if (end_) return;
    ++jobs_;
  }
  context_.writer.Open(ProducerOpening(open, caller().name, context_.writer.dataset_id()),
                       [self = Self()](const storage::OpenOutcome& outcome) {
                         // Must precede the end of the job; after it the stream can leave the registry.
                         if (outcome.status.ok()) {
                           self->context_.streams.TakeOver(self->producer_id_, self->epoch_, self.get());
                         }
                         self->OnOpened(outcome);
                       });
}

void IngestStream::OnOpened(const storage::OpenOutcome& outcome) {
  Change([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    --jobs_;
    if (!outcome.status.ok()) return SetEnd(outcome.status);
    v1::Opened opened;
    opened.set_committed_seq(outcome.committed_seq);
    opened.set_window_bytes(context_.limits.window_bytes);
    opened.set_max_batch_bytes(context_.limits.max_batch_bytes);
    opened.set_dataset_id(context_.writer.dataset_id());
    replies_.Add(std::move(opened));
    WriteOn();
    ReadOn();
  });
}

void IngestStream::HandleBatch(batch::BatchOutline batch, Thread thread) {
  if (!open_) return EndAfterCommit(absl::InvalidArgumentError("the first message must be Open"));
  if (absl::Status status = batch::CheckBatch(batch, context_.limits); !status.ok())
    return EndAfterCommit(std::move(status));
  {
    absl::MutexLock lock(&mutex_);
    if (end_) return;
    ++jobs_;
  }
  absl::Status status = ReserveWindow(batch.record_bytes);
  const bool parse_here = thread == Thread::kParser || batch.pieces.size() == 1;
  batch_.emplace(producer_id_, epoch_, std::move(batch), request_, context_.limits.record);
  if (status.ok() && parse_here) return AdmitPieces();
  if (status.ok()) status = parsers_.Run(sender(), request_.Length(), [self = Self()] { self->AdmitPieces(); });
  if (!status.ok()) HandleAdmitted(std::move(status));
}

void IngestStream::AdmitPieces() {
  // A batch may have thousands of pieces. Those that have room now need no callback and therefore no recursion.
  while (true) {
    need_ = Admission::NeedOf(producer_id_, batch_->next());
    if (!context_.admission.TryAdmit(sender(), need_)) break;
    if (!HandleAdmitted(absl::OkStatus())) return;
  }
  context_.admission.Admit(sender(), need_, request_.Length(), [self = Self()](absl::Status status) {
    if (self->HandleAdmitted(std::move(status))) self->AdmitPieces();
  });
}

absl::Status IngestStream::ReserveWindow(uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  if (unacked_bytes_ + bytes > context_.limits.window_bytes) {
    return call::TryAgainLater(
        absl::StrCat("more than window_bytes (", context_.limits.window_bytes, ") are unacknowledged"),
        context_.limits.retry_delay);
  }
  unacked_bytes_ += bytes;
  return absl::OkStatus();
}

bool IngestStream::HandleAdmitted(absl::Status status) {
  absl::Duration delay;
  if (status.ok() && is_finished()) {
    context_.admission.Release(sender(), need_);
    status = absl::CancelledError("the stream has ended");
  }
  if (status.ok()) {
    delay = CommitPiece();
    if (!batch_->done()) return true;
  }
  batch_.reset();
  const bool is_small = request_.Length() <= call::kMaxSmallMessageBytes;
  request_.Clear();
  Change([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    --jobs_;
    if (!status.ok()) SetEnd(std::move(status));
    reads_with_ack_ = is_small && !is_pipelining_ && delay <= absl::ZeroDuration() && jobs_ > 0 && !end_;
    if (!reads_with_ack_) ReadOnAfter(delay);
  });
  return false;
}

absl::Duration IngestStream::CommitPiece() {
  std::unique_ptr<batch::ParsedBatch> piece = batch_->ParseNext();
  const uint64_t bytes = piece->bytes();
  // The metrics are counted before the commit, because its Ack may arrive before Commit returns.
  context_.too_large_records += piece->too_large();
  const absl::Duration delay = context_.rates.Take(producer_id_, bytes, SteadyNow());
  {
    absl::MutexLock lock(&mutex_);
    ++jobs_;
  }
  context_.writer.Commit(sender(), std::move(piece),
                         [self = Self(), bytes, need = need_](storage::BatchOutcome outcome) {
                           self->context_.admission.Release(self->sender(), need);
                           self->OnCommitted(bytes, std::move(outcome));
                         });
  return delay;
}

void IngestStream::OnCommitted(uint64_t bytes, storage::BatchOutcome outcome) {
  Change([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    --jobs_;
    unacked_bytes_ -= bytes;
    if (!outcome.status.ok()) {
      SetEnd(std::move(outcome.status));
    } else if (replies_.Add(std::move(outcome))) {
      reads_with_ack_&& jobs_ == 0 ? WriteAndReadOn() : WriteOn();
    } else {
      SetEnd(absl::CancelledError("the client does not read its Acks"));
      CutOff(Overdue::kReading);
    }
  });
}

void IngestStream::OnTimer() {
  Change([this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    is_delayed_ = false;
    ReadOn();
  });
}

void IngestStream::OnWriteDone(bool ok) {
  Change([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    replies_.OnWritten();
    if (!ok) {
      SetEnd(absl::CancelledError("the client has disconnected"));
      replies_.Drop();
    }
    WriteOn();
  });
}

void IngestStream::OnCancel() { EndAfterCommit(absl::CancelledError("the client has disconnected")); }

void IngestStream::OnDone() {
  context_.streams.Remove(this);
  call::RawCall::OnDone();
}

void IngestStream::End(absl::Status status) {
  Change([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    SetEnd(std::move(status));
    end_at_ = std::min(end_at_, SteadyNow() + kLastWrite);
  });
}

void IngestStream::EndAfterCommit(absl::Status status) {
  Change([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { SetEnd(std::move(status)); });
}

void IngestStream::Drain() {
  EndAfterCommit(absl::UnavailableError("the collector is shutting down; everything acknowledged is durable"));
}

void IngestStream::CheckTime(SteadyTime now) {
  Change([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    EndIfOverdue(now);
    if (now >= end_at_) CutOff(Overdue::kNothing);
  });
}

bool IngestStream::is_finished() {
  absl::MutexLock lock(&mutex_);
  return finished_;
}

bool IngestStream::CutOff(Overdue overdue) {
  if (finished_ || std::exchange(cut_off_, true)) return false;
  context_.streams.Count(overdue);
  context().TryCancel();
  return true;
}

void IngestStream::EndIfOverdue(SteadyTime now) {
  const auto longer = [now](SteadyTime since, absl::Duration than) { return absl::FromChrono(now - since) > than; };
  const call::Limits& limits = context_.limits;
  if (replies_.IsUnread(now) && CutOff(Overdue::kReading)) {
    SetEnd(absl::CancelledError("the client does not read its messages"));
  }
  if (end_ || jobs_ > 0 || is_delayed_) return;
  if (!open_ && longer(began_at_, limits.open_timeout)) {
    context_.streams.Count(Overdue::kOpen);
    SetEnd(absl::DeadlineExceededError("the stream sent no Open within open_timeout"));
  } else if (longer(reading_since_, limits.stream_idle_timeout)) {
    context_.streams.Count(Overdue::kMessage);
    SetEnd(absl::DeadlineExceededError("the stream sent no complete message within stream_idle_timeout"));
  }
}

void IngestStream::SetEnd(absl::Status status) {
  if (is_delayed_) wire().CancelTimer();
  // After a half-close, an error in the records that were read still replaces the status OK.
  if (!end_ || (end_->ok() && !finished_)) end_ = std::move(status);
}

void IngestStream::ReadOnAfter(absl::Duration delay) {
  if (delay <= absl::ZeroDuration() || end_) return ReadOn();
  is_delayed_ = true;
  wire().SetTimer(delay);
}

void IngestStream::ReadOn() {
  if (end_) return;
  reading_since_ = SteadyNow();
  wire().Read(&request_);
}

void IngestStream::WriteOn() {
  if (finished_) return;
  if (const grpc::ByteBuffer* reply = replies_.Next()) wire().Write(*reply);
}

void IngestStream::WriteAndReadOn() {
  reads_with_ack_ = false;
  if (end_) return WriteOn();
  const grpc::ByteBuffer* ack = replies_.Next();
  if (ack == nullptr) return ReadOn();
  reading_since_ = SteadyNow();
  // A longer Ack ends on its own, because the client may read it slowly. A client that reads nothing stops the stream
  // when 64 KiB of short ones fill the flow control, and stream_idle_timeout ends it.
  if (ack->Length() > kShortAckBytes || !wire().is_on_socket()) {
    wire().Write(*ack);
    return wire().Read(&request_);
  }
  wire().WriteAndRead(*ack, &request_);
  replies_.OnWritten();
}

std::optional<grpc::Status> IngestStream::TakeFinish() {
  const bool has_jobs = jobs_ > 0 && end_at_ == kNever;
  if (!end_ || has_jobs || is_delayed_ || replies_.is_writing() || finished_) return std::nullopt;
  finished_ = true;
  context_.gate.LogEnd(caller(), kMethod, producer_id_, *end_);
  return call::ToGrpc(*end_);
}

}  // namespace telemetry::ingest
