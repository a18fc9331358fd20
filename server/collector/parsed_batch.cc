#include "server/collector/parsed_batch.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/record/ids.h"
#include "server/collector/grpc_status.h"
#include "server/storage/validate.h"

namespace telemetry::collector {
namespace {

constexpr size_t kProducerIdBytes = 16;
constexpr uint64_t kMaxSeq = std::numeric_limits<int64_t>::max();
constexpr uint64_t kParsedRecordBytes = 512;
constexpr char kNoRecord[] = "the bytes are no Record message (or hold text that is not UTF-8)";

}  // namespace

uint64_t RecordBytes(const v1::Batch& batch) {
  uint64_t bytes = 0;
  for (const std::string& record : batch.records()) bytes += record.size();
  return bytes;
}

uint64_t MemoryBytes(const v1::Batch& batch) {
  return RecordBytes(batch) + static_cast<uint64_t>(batch.records_size()) * kParsedRecordBytes;
}

absl::Status CheckBatch(const v1::Batch& batch, const Limits& limits) {
  const uint64_t count = batch.records_size();
  if (count == 0) return absl::InvalidArgumentError("the batch is empty");
  if (count > kMaxBatchRecords) {
    return absl::InvalidArgumentError(
        absl::StrCat("the batch has ", count, " records; the limit is ", kMaxBatchRecords));
  }
  if (batch.first_seq() == 0 || batch.first_seq() > kMaxSeq - (count - 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("sequence numbers go from 1 to 2^63-1; the batch begins at ", batch.first_seq()));
  }
  const uint64_t bytes = RecordBytes(batch);
  if (bytes > limits.max_batch_bytes) {
    return TryAgainLater(
        absl::StrCat("the batch has ", bytes, " bytes of records; the limit is ", limits.max_batch_bytes),
        limits.retry_delay);
  }
  uint32_t crc = 0;
  for (const std::string& record : batch.records()) crc = record::Crc32c(crc, record);
  if (crc != batch.crc32c()) {
    return absl::DataLossError(absl::StrCat("crc32c of the batch at sequence number ", batch.first_seq(), " is ",
                                            absl::Hex(crc), ", but the batch says ", absl::Hex(batch.crc32c())));
  }
  return absl::OkStatus();
}

absl::Status CheckOpen(const v1::Open& open) {
  if (open.producer_id().size() == kProducerIdBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("producer_id has ", open.producer_id().size(), " bytes instead of 16"));
}

ParsedBatch::ParsedBatch(std::string producer_id, uint64_t epoch, const v1::Batch& batch)
    : bytes_(RecordBytes(batch)), memory_bytes_(MemoryBytes(batch)) {
  batch_.producer_id = std::move(producer_id);
  batch_.epoch = epoch;
  batch_.first_seq = batch.first_seq();
  batch_.validated = true;
  batch_.records.reserve(batch.records_size());
  uint64_t seq = batch.first_seq();
  for (const std::string& bytes : batch.records()) Parse(bytes, seq++);
}

void ParsedBatch::Parse(const std::string& bytes, uint64_t seq) {
  auto* record = google::protobuf::Arena::CreateMessage<v1::Record>(&arena_);
  storage::MaybeRefusal refusal;
  if (record->ParseFromString(bytes)) {
    refusal = storage::Validate(*record);
  } else {
    refusal = storage::Invalid(kNoRecord);
    record->Clear();
    v1::Reject* reject = record->mutable_reject();
    reject->set_reason(refusal->reason);
    reject->set_message(refusal->message);
    reject->set_raw(bytes);
  }
  batch_.records.push_back(record);
  if (refusal) batch_.refused.push_back({seq, refusal->reason, std::move(refusal->message)});
}

}  // namespace telemetry::collector
