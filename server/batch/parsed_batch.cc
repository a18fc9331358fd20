#include "server/batch/parsed_batch.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/record/ids.h"
#include "server/call/grpc_status.h"
#include "server/storage/validate.h"

namespace telemetry::batch {
namespace {

constexpr uint64_t kMaxSeq = std::numeric_limits<int64_t>::max();
constexpr size_t kMaxClientBytes = 1024;
constexpr char kNoRecord[] = "the bytes are no Record message (or hold text that is not UTF-8)";
constexpr char kTooHeavy[] = "the record has so many small or empty parts that in memory it would be far too large";

}  // namespace

absl::Status CheckBatch(const BatchOutline& batch, const call::Limits& limits) {
  if (batch.records == 0) return absl::InvalidArgumentError("the batch is empty");
  if (batch.first_seq == 0 || batch.first_seq > kMaxSeq - (batch.records - 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("sequence numbers go from 1 to 2^63-1; the batch begins at ", batch.first_seq));
  }
  if (batch.record_bytes > limits.max_batch_bytes) {
    return call::TryAgainLater(
        absl::StrCat("the batch has ", batch.record_bytes, " bytes of records; the limit is ", limits.max_batch_bytes),
        limits.retry_delay);
  }
  if (batch.crc32c != batch.claimed_crc32c) {
    return absl::DataLossError(absl::StrCat("crc32c of the batch at sequence number ", batch.first_seq, " is ",
                                            absl::Hex(batch.crc32c), ", but the batch contains ",
                                            absl::Hex(batch.claimed_crc32c)));
  }
  return absl::OkStatus();
}

absl::Status CheckOpen(const v1::Open& open) {
  if (open.producer_id().size() != record::kProducerIdBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("producer_id has ", open.producer_id().size(), " bytes instead of 16"));
  }
  if (open.client().size() <= kMaxClientBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("client has ", open.client().size(), " bytes; the limit is ", kMaxClientBytes));
}

ParsedBatch::ParsedBatch(std::string producer_id, uint64_t epoch, uint64_t first_seq, const PieceOutline& piece)
    : bytes_(piece.record_bytes), memory_bytes_(piece.memory_bytes), rows_(piece.rows) {
  batch_.producer_id = std::move(producer_id);
  batch_.epoch = epoch;
  batch_.first_seq = first_seq;
  batch_.records.reserve(piece.records);
}

void ParsedBatch::Add(const std::string& bytes, const storage::RecordSizes& sizes) {
  auto* record = google::protobuf::Arena::CreateMessage<v1::Record>(&arena_);
  if (!record->ParseFromString(bytes)) return Refuse(bytes, kNoRecord);
  storage::MaybeRefusal refusal = storage::CheckSizes(*record, sizes);
  if (refusal) ++too_large_;
  if (!refusal) refusal = storage::Validate(*record);
  batch_.records.push_back({record, std::move(refusal)});
}

void ParsedBatch::AddTooHeavy(const std::string& bytes) {
  ++too_large_;
  Refuse(bytes, kTooHeavy);
}

void ParsedBatch::Refuse(const std::string& bytes, const char* why) {
  storage::Refusal refusal = storage::Invalid(why);
  auto* record = google::protobuf::Arena::CreateMessage<v1::Record>(&arena_);
  v1::Reject* reject = record->mutable_reject();
  reject->set_reason(refusal.reason);
  reject->set_message(refusal.message);
  reject->set_raw(bytes);
  batch_.records.push_back({record, std::move(refusal)});
}

}  // namespace telemetry::batch
