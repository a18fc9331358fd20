#include "server/collector/request_outline.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <string_view>

#include "proto/record/ids.h"
#include "server/collector/record_weight.h"

namespace telemetry::collector {
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

// Calls `read_record` at the beginning of each record; it reads that many bytes. False: this is no Batch.
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

}  // namespace

absl::StatusOr<RequestOutline> ReadOutline(const grpc::ByteBuffer& message) {
  const absl::Status malformed = absl::InvalidArgumentError("the message is neither Open nor Batch");
  RequestOutline outline;
  uint32_t crc = 0;
  uint64_t records = 0;
  uint64_t bytes = 0;
  const auto count = [&](CodedInputStream& in, uint32_t size) {
    ++records;
    bytes += size;
    return AddToCrc(in, size, crc);
  };
  if (!ReadRequest(message, outline, count)) return malformed;
  if (!outline.batch) return outline;
  outline.batch->records = records;
  outline.batch->record_bytes = bytes;
  outline.batch->crc32c = crc;
  RequestOutline again;
  uint64_t position = 0;
  const auto weigh = [&, &batch = *outline.batch](CodedInputStream& in, uint32_t size) {
    const uint64_t memory = ParsedBytes(in, size);
    const bool hollow = IsHollow(memory, size);
    batch.memory_bytes += hollow ? size : memory;
    if (hollow) batch.hollow.push_back(position);
    ++position;
    return true;
  };
  return ReadRequest(message, again, weigh) ? absl::StatusOr<RequestOutline>(std::move(outline)) : malformed;
}

void ForEachRecord(const grpc::ByteBuffer& message, absl::FunctionRef<void(const std::string&)> use) {
  RequestOutline outline;
  std::string bytes;
  ReadRequest(message, outline, [&](CodedInputStream& in, uint32_t size) {
    if (!in.ReadString(&bytes, static_cast<int>(size))) return false;
    use(bytes);
    return true;
  });
}

}  // namespace telemetry::collector
