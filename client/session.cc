#include "client/session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "proto/record/ids.h"

namespace telemetry::client {
namespace {

// Large enough to spread the cost of a message over thousands of records; small enough to keep several batches in
// flight.
constexpr uint64_t kBatchBytes = uint64_t{256} << 10;
constexpr absl::Duration kOpenTimeout = absl::Seconds(20);

}  // namespace

StreamEnd Session::Run() {
  const absl::StatusOr<access::Connection> connection =
      access::Connection::Prepare(options_.credentials, options_.collector);
  if (!connection.ok()) return {.status = connection.status()};
  const SpoolMeta meta = spool_.meta();
  base_seq_ = meta.base_seq;
  v1::Open open;
  open.set_producer_id(meta.producer_id);
  open.set_epoch(meta.epoch);
  open.set_client(options_.client_name);
  if (!meta.dataset_id.empty()) {
    open.set_acked_seq(spool_.state().committed_seq - base_seq_);
    open.set_acked_dataset_id(meta.dataset_id);
  }
  stream_ = IngestStream::Start(options_.collector, *connection, open, [this] { wakeup_.Notify(); });

  absl::Status status = AwaitOpened();
  if (status.ok() && !renamed_ && !stopping_) status = Deliver();
  const bool collector_ended = stream_->ended();
  StreamEnd end = stream_->Finish();
  // The session's own error takes precedence over the CANCELLED that it causes.
  if (!status.ok() || !collector_ended) end = {.status = status};
  if (collector_ended && end.status.ok() && !renamed_)
    end.status = absl::UnavailableError("the collector closed the stream");
  rested_ = opened_ && absl::IsDeadlineExceeded(end.status) && collector_ended && spool_.state().unacked_bytes == 0;
  return end;
}

absl::Status Session::AwaitOpened() {
  const SteadyTime deadline = SteadyAfter(kOpenTimeout);
  while (!stopping_ && !stream_->ended()) {
    const std::vector<v1::StreamResponse> responses = stream_->TakeResponses();
    if (!responses.empty()) {
      if (!responses.front().has_opened()) return absl::InternalError("the collector's first answer is not Opened");
      return Admit(responses.front().opened());
    }
    if (SteadyNow() >= deadline) return absl::DeadlineExceededError("the collector did not answer");
    wakeup_.WaitUntil(deadline);
  }
  return absl::OkStatus();
}

absl::Status Session::Admit(const v1::Opened& opened) {
  const SpoolMeta meta = spool_.meta();
  const SpoolState log = spool_.state();
  const uint64_t committed = LocalSeq(opened.committed_seq());
  dataset_id_ = opened.dataset_id().size() == record::kDatasetIdBytes ? opened.dataset_id() : "";
  window_bytes_ = opened.window_bytes();
  max_batch_bytes_ = opened.max_batch_bytes();
  batch_bytes_ = std::max<uint64_t>(1, std::min(kBatchBytes, max_batch_bytes_));
  if (!meta.dataset_id.empty() && !dataset_id_.empty() && meta.dataset_id != dataset_id_) {
    return ChangeDataset(log.committed_seq, "the collector has another database than before");
  }
  if (committed > plausible_seq_) {
    return Rename(log.committed_seq, "the collector has records of this log that were lost here");
  }
  if (committed + 1 < spool_.first_available_seq()) {
    return ChangeDataset(spool_.first_available_seq() - 1,
                         "the collector has lost records that it had acknowledged (was an older database restored?)");
  }
  // Prove() precedes the first batch. Otherwise the next opening would mistake a crash in between for a loss of
  // records.
  RETURN_IF_ERROR(spool_.Prove(dataset_id_.empty() ? meta.dataset_id : dataset_id_));
  const bool news = committed > log.committed_seq;
  RETURN_IF_ERROR(spool_.SetCommitted(committed));
  // The acknowledgement of these records may have been lost.
  if (news && options_.on_committed) options_.on_committed(committed);
  next_seq_ = committed + 1;
  const SpoolState resumed = spool_.state();
  sent_position_ = resumed.appended_bytes - resumed.unacked_bytes;
  state_.SetConnected(true);
  opened_ = true;
  // The answer alone does not prove recovery: the collector may be unable to accept the next batch.
  if (news || resumed.unacked_bytes == 0) SayDelivering();
  state_.SetCommitted(committed);
  return absl::OkStatus();
}

void Session::SayDelivering() {
  state_.SetTrouble(absl::OkStatus());
  if (options_.on_delivering) options_.on_delivering();
}

absl::Status Session::Rename(uint64_t base_seq, const std::string& why) {
  const uint64_t waiting = spool_.state().appended_seq - base_seq;
  RETURN_IF_ERROR(spool_.StartNewLog(base_seq, dataset_id_));
  state_.SetCommitted(base_seq);
  plausible_seq_ = base_seq;
  renamed_ = true;
  if (options_.on_notice) {
    options_.on_notice(absl::StrCat(why, "; a new log begins with ", record::Counted(waiting, "waiting record")));
  }
  return absl::OkStatus();
}

// Calls on_new_dataset before the change is stored, so that the caller learns of the change even if the process ends in
// between.
absl::Status Session::ChangeDataset(uint64_t base_seq, const std::string& why) {
  if (options_.on_new_dataset) options_.on_new_dataset();
  return Rename(base_seq, why);
}

absl::Status Session::Deliver() {
  while (!stopping_ && !renamed_) {
    RETURN_IF_ERROR(HandleResponses());
    // A response may have arrived between the two checks, and refusals are reported only once.
    if (stream_->ended()) return HandleResponses();
    ASSIGN_OR_RETURN(const SteadyTime again, Send());
    // While records linger, no response is due, and the read begins with their batch.
    const bool lingers = in_flight_.empty() && again != kNever;
    if (!lingers) stream_->ReadOn();
    if (!renamed_) wakeup_.WaitUntil(again);
  }
  return absl::OkStatus();
}

absl::Status Session::HandleResponses() {
  for (const v1::StreamResponse& response : stream_->TakeResponses()) {
    if (!response.has_ack()) continue;
    RETURN_IF_ERROR(HandleAck(response.ack()));
  }
  return absl::OkStatus();
}

absl::Status Session::HandleAck(const v1::Ack& ack) {
  const uint64_t committed = LocalSeq(ack.committed_seq());
  if (committed > plausible_seq_) {
    return absl::InternalError(absl::StrCat("the collector acknowledged record ", committed, ", which was never sent"));
  }
  for (const v1::Ack::Refused& refused : ack.rejects()) {
    if (!options_.on_refused) break;
    v1::Ack::Refused local = refused;
    local.set_seq(LocalSeq(refused.seq()));
    options_.on_refused(local);
  }
  state_.AddOutcome(ack);
  if (committed <= spool_.state().committed_seq) return absl::OkStatus();
  while (!in_flight_.empty() && in_flight_.front().last_seq <= committed) {
    in_flight_bytes_ -= in_flight_.front().record_bytes;
    in_flight_.pop_front();
  }
  last_acked_ = SteadyNow();
  if (!std::exchange(made_progress_, true)) SayDelivering();
  RETURN_IF_ERROR(spool_.SetCommitted(committed));
  // on_committed is called first, so that it has been called when a waiter for the acknowledgement wakes up.
  if (options_.on_committed) options_.on_committed(committed);
  state_.SetCommitted(committed);
  return absl::OkStatus();
}

size_t Session::RoomInWindow() const { return window_bytes_ > in_flight_bytes_ ? window_bytes_ - in_flight_bytes_ : 0; }

SteadyTime Session::LeaveAt(uint64_t unsent_bytes) const {
  if (unsent_bytes >= batch_bytes_ || state_.urgent() || last_sent_ == kLongAgo) return kLongAgo;
  const auto linger = absl::ToChronoNanoseconds(options_.linger);
  return in_flight_.empty() ? last_acked_ + linger : last_sent_ + 2 * linger;
}

absl::StatusOr<bool> Session::LoadBatch() {
  if (loaded_.has_value()) return true;
  const size_t room = RoomInWindow();
  // A small piece that fills the window's last bytes would cost as much as a full batch.
  if (!in_flight_.empty() && room < std::min(batch_bytes_, window_bytes_ / 4)) return false;
  ASSIGN_OR_RETURN(SpoolBatch batch,
                   spool_.Read(next_seq_, std::min<uint64_t>(batch_bytes_, std::max<size_t>(room, 1))));
  if (batch.first_seq != next_seq_) {
    // Records are missing. The records before the hole must be acknowledged under the log's present producer_id first.
    if (spool_.state().committed_seq + 1 < next_seq_) return false;
    const uint64_t lost = batch.first_seq - next_seq_;
    RETURN_IF_ERROR(
        Rename(batch.first_seq - 1, absl::StrCat("the spool is damaged and has lost ", record::Counted(lost, "record"),
                                                 " from number ", next_seq_, " on")));
    return false;
  }
  if (batch.empty()) return false;
  loaded_ = std::move(batch);
  return true;
}

// Only the collector's operator can repair this. The record stays in the spool and is offered again with pauses.
absl::Status Session::TooLarge(uint64_t record_bytes) const {
  return absl::InvalidArgumentError(absl::StrCat("record ", loaded_->first_seq, " has ", record_bytes,
                                                 " bytes, but the collector accepts at most ", max_batch_bytes_,
                                                 " in a batch (its flag --max-batch-bytes) and ", window_bytes_,
                                                 " in flight (--window-bytes); restart it with larger limits"));
}

absl::StatusOr<SteadyTime> Session::Send() {
  while (stream_->can_write()) {
    const uint64_t appended = spool_.state().appended_bytes;
    if (appended <= sent_position_) {
      signal_.Arm(sent_position_ + 1);
      if (spool_.state().appended_bytes > sent_position_) continue;
      return kNever;
    }
    const SteadyTime leave_at = LeaveAt(appended - sent_position_);
    if (SteadyNow() < leave_at) {
      signal_.Arm(sent_position_ + batch_bytes_);
      if (spool_.state().appended_bytes >= sent_position_ + batch_bytes_) continue;
      return leave_at;
    }
    ASSIGN_OR_RETURN(const bool loaded, LoadBatch());
    if (!loaded) return kNever;
    EncodedBatch encoded = EncodeBatch(*loaded_, loaded_->first_seq - base_seq_);
    if (encoded.record_bytes > RoomInWindow() || encoded.record_bytes > max_batch_bytes_) {
      if (in_flight_.empty()) return TooLarge(encoded.record_bytes);
      return kNever;
    }
    in_flight_.push_back({.last_seq = loaded_->last_seq, .record_bytes = encoded.record_bytes});
    in_flight_bytes_ += encoded.record_bytes;
    next_seq_ = loaded_->last_seq + 1;
    sent_position_ = loaded_->end_position;
    plausible_seq_ = std::max(plausible_seq_, loaded_->last_seq);
    loaded_.reset();
    last_sent_ = SteadyNow();
    stream_->Write(std::move(encoded));
  }
  return kNever;
}

}  // namespace telemetry::client
