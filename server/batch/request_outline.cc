#include "server/batch/request_outline.h"

#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "proto/record/ids.h"
#include "server/batch/record_weight.h"
#include "server/call/limits.h"

namespace telemetry::batch {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr uint32_t Tag(int field, WireFormatLite::WireType type) { return WireFormatLite::MakeTag(field, type); }
constexpr uint32_t kOpen = Tag(v1::StreamRequest::kOpenFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
constexpr uint32_t kBatch = Tag(v1::StreamRequest::kBatchFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
constexpr uint32_t kFirstSeq = Tag(v1::Batch::kFirstSeqFieldNumber, WireFormatLite::WIRETYPE_VARINT);
constexpr uint32_t kRecord = Tag(v1::Batch::kRecordsFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
constexpr uint32_t kCrc32c = Tag(v1::Batch::kCrc32CFieldNumber, WireFormatLite::WIRETYPE_FIXED32);
static_assert(int{v1::IngestRequest::kOpenFieldNumber} == int{v1::StreamRequest::kOpenFieldNumber});
static_assert(int{v1::IngestRequest::kBatchFieldNumber} == int{v1::StreamRequest::kBatchFieldNumber});

// Calls `read_record` at the beginning of each record; `read_record` must read that many bytes. Returns false if the
// bytes are not a Batch.
bool ReadBatch(CodedInputStream& in, uint32_t size, BatchOutline& batch,
               absl::FunctionRef<bool(CodedInputStream&, uint32_t)> read_record) {
  const CodedInputStream::Limit limit = in.PushLimit(static_cast<int>(size));
  while (const uint32_t tag = in.ReadTag()) {
    uint32_t record_size = 0;
    bool ok = false;
    switch (tag) {
      case kFirstSeq:
        ok = in.ReadVarint64(&batch.first_seq);
        break;
      case kCrc32c:
        ok = in.ReadLittleEndian32(&batch.claimed_crc32c);
        break;
      case kRecord:
        ok = in.ReadVarint32(&record_size) && read_record(in, record_size);
        break;
      default:
        ok = WireFormatLite::SkipField(&in, tag);
    }
    if (!ok) return false;
  }
  const bool whole = in.ConsumedEntireMessage() && in.BytesUntilLimit() == 0;
  in.PopLimit(limit);
  return whole;
}

bool ReadRequest(const grpc::ByteBuffer& message, RequestOutline& outline,
                 absl::FunctionRef<bool(CodedInputStream&, uint32_t)> read_record) {
  grpc::ByteBuffer shared(message);  // another reference to the same bytes
  grpc::ProtoBufferReader reader(&shared);
  CodedInputStream in(&reader);
  while (const uint32_t tag = in.ReadTag()) {
    uint32_t size = 0;
    if (tag == kOpen) {
      std::string bytes;
      if (outline.open || !in.ReadVarint32(&size) || !in.ReadString(&bytes, static_cast<int>(size))) return false;
      if (!outline.open.emplace().ParseFromString(bytes)) return false;
    } else if (tag == kBatch) {
      if (outline.batch || !in.ReadVarint32(&size)) return false;
      if (!ReadBatch(in, size, outline.batch.emplace(), read_record)) return false;
    } else if (!WireFormatLite::SkipField(&in, tag)) {
      return false;
    }
  }
  return in.ConsumedEntireMessage();
}

bool AddToCrc(CodedInputStream& in, uint32_t size, uint32_t& crc) {
  while (size > 0) {
    const void* data = nullptr;
    int there = 0;
    if (!in.GetDirectBufferPointer(&data, &there) || there <= 0) return false;
    const uint32_t piece = std::min(size, static_cast<uint32_t>(there));
    crc = record::Crc32c(crc, std::string_view(static_cast<const char*>(data), piece));
    in.Skip(static_cast<int>(piece));
    size -= piece;
  }
  return true;
}

// Adds a record to the last piece, or begins another piece if the record does not fit.
void AddToPieces(const PieceOutline& record, const call::PieceLimits& limits, std::vector<PieceOutline>& pieces) {
  const auto has_room = [&](const PieceOutline& piece) {
    return piece.rows + record.rows <= limits.rows && piece.record_bytes + record.record_bytes <= limits.bytes &&
           piece.memory_bytes + record.memory_bytes <= call::kMaxPieceMemoryBytes;
  };
  if (pieces.empty() || !has_room(pieces.back())) pieces.emplace_back();
  PieceOutline& piece = pieces.back();
  piece.records += record.records;
  piece.record_bytes += record.record_bytes;
  piece.memory_bytes += record.memory_bytes;
  piece.rows += record.rows;
}

}  // namespace

absl::StatusOr<RequestOutline> ReadOutline(const grpc::ByteBuffer& message, const call::PieceLimits& limits) {
  const absl::Status malformed = absl::InvalidArgumentError("the message is neither Open nor Batch");
  RequestOutline outline;
  uint32_t crc = 0;
  uint64_t records = 0;
  uint64_t bytes = 0;
  const auto count = [&](CodedInputStream& in, uint32_t size) {
    bytes += size;
    return ++records <= call::kMaxBatchRecords && AddToCrc(in, size, crc);
  };
  if (!ReadRequest(message, outline, count)) {
    if (records <= call::kMaxBatchRecords) return malformed;
    return absl::InvalidArgumentError(
        absl::StrCat("the batch has more than ", call::kMaxBatchRecords, " records, which is the limit"));
  }
  if (!outline.batch) return outline;
  outline.batch->records = records;
  outline.batch->record_bytes = bytes;
  outline.batch->crc32c = crc;
  RequestOutline again;
  uint64_t position = 0;
  const auto weigh = [&, &batch = *outline.batch](CodedInputStream& in, uint32_t size) {
    RecordWeight weight = Weigh(in, size);
    if (IsTooHeavy(weight.memory_bytes, size)) {
      batch.too_heavy.push_back(position);
      weight = {.memory_bytes = size, .rows = 1};
    }
    ++position;
    // Rows count as memory, so that the limit of bytes in flight also bounds the writer's work.
    const uint64_t memory_bytes = std::max(weight.memory_bytes, weight.rows * call::kLeastBytesOfRow);
    AddToPieces({.records = 1, .record_bytes = size, .memory_bytes = memory_bytes, .rows = weight.rows}, limits,
                batch.pieces);
    return true;
  };
  return ReadRequest(message, again, weigh) ? absl::StatusOr<RequestOutline>(std::move(outline)) : malformed;
}

RecordCursor::RecordCursor(const grpc::ByteBuffer& message)
    : message_(message), reader_(&message_), in_(&reader_), in_batch_(FindBatch()) {}

bool RecordCursor::FindBatch() {
  while (const uint32_t tag = in_.ReadTag()) {
    uint32_t size = 0;
    if (tag != kBatch) {
      if (!WireFormatLite::SkipField(&in_, tag)) return false;
    } else {
      if (!in_.ReadVarint32(&size)) return false;
      in_.PushLimit(static_cast<int>(size));
      return true;
    }
  }
  return false;
}

bool RecordCursor::Next(std::string& bytes) {
  if (!in_batch_) return false;
  while (const uint32_t tag = in_.ReadTag()) {
    uint32_t size = 0;
    if (tag == kRecord) return in_.ReadVarint32(&size) && in_.ReadString(&bytes, static_cast<int>(size));
    if (!WireFormatLite::SkipField(&in_, tag)) return false;
  }
  return false;
}

}  // namespace telemetry::batch
