#include "server/ingest/stream_replies.h"

#include <algorithm>
#include <utility>

#include "server/call/message_buffer.h"

namespace telemetry::ingest {

void AddOutcome(storage::BatchOutcome outcome, v1::Ack& ack) {
  ack.set_committed_seq(std::max(ack.committed_seq(), outcome.committed_seq));
  ack.set_new_rows(ack.new_rows() + outcome.new_rows);
  ack.set_known_rows(ack.known_rows() + outcome.known_rows);
  for (storage::RefusedRecord& refused : outcome.refused) {
    v1::Ack::Refused* entry = ack.add_rejects();
    entry->set_seq(refused.seq);
    entry->set_reason(refused.reason);
    entry->set_message(std::move(refused.message));
  }
}

bool StreamReplies::Add(storage::BatchOutcome outcome) {
  uint64_t bytes = 0;
  for (const storage::RefusedRecord& refused : outcome.refused) bytes += sizeof(refused) + refused.message.size();
  if (!ack_) ack_.emplace();
  AddOutcome(std::move(outcome), *ack_);
  const bool room = ack_claim_.Add(bytes) <= limits_.unread_ack_bytes;
  return room || bytes == 0 || !is_writing();
}

const grpc::ByteBuffer* StreamReplies::Next() {
  if (is_writing() || (!opened_ && !ack_)) return nullptr;
  v1::StreamResponse response;
  if (opened_) {
    *response.mutable_opened() = *std::exchange(opened_, std::nullopt);
  } else {
    *response.mutable_ack() = *std::exchange(ack_, std::nullopt);
    written_claim_.Take(ack_claim_);
  }
  written_ = call::ToBuffer(response);
  writing_since_ = SteadyNow();
  return &written_;
}

void StreamReplies::OnWritten() {
  writing_since_.reset();
  written_claim_.Release();
}

void StreamReplies::Drop() {
  opened_.reset();
  ack_.reset();
  ack_claim_.Release();
}

bool StreamReplies::IsUnread(SteadyTime now) const {
  return is_writing() && absl::FromChrono(now - *writing_since_) > limits_.unread_timeout;
}

}  // namespace telemetry::ingest
