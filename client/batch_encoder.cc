#include "client/batch_encoder.h"

#include <string_view>

#include "client/frame.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "proto/record/ids.h"
#include "telemetry/v1/ingest.pb.h"

namespace telemetry::client {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

constexpr size_t kMaxFieldHeadBytes = 16;  // a tag and a length, or a tag and a number

constexpr uint32_t Tag(int field, WireFormatLite::WireType type) { return WireFormatLite::MakeTag(field, type); }

constexpr uint32_t kBatchTag = Tag(v1::StreamRequest::kBatchFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
constexpr uint32_t kFirstSeqTag = Tag(v1::Batch::kFirstSeqFieldNumber, WireFormatLite::WIRETYPE_VARINT);
constexpr uint32_t kRecordsTag = Tag(v1::Batch::kRecordsFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
constexpr uint32_t kCrcTag = Tag(v1::Batch::kCrc32CFieldNumber, WireFormatLite::WIRETYPE_FIXED32);
// A record's tag and length are never longer than the frame header that they replace, so that the body fits.
static_assert(kFrameHeaderBytes >= 6);

uint8_t* WriteHead(uint32_t tag, uint64_t value, uint8_t* out) {
  return CodedOutputStream::WriteVarint64ToArray(value, CodedOutputStream::WriteTagToArray(tag, out));
}

}  // namespace

EncodedBatch EncodeBatch(const SpoolBatch& batch, uint64_t wire_seq) {
  EncodedBatch encoded;
  encoded.body.resize(batch.frames.size() + 2 * kMaxFieldHeadBytes);
  auto* const begin = reinterpret_cast<uint8_t*>(encoded.body.data());
  uint8_t* out = WriteHead(kFirstSeqTag, wire_seq, begin);
  uint32_t crc = 0;
  std::string_view frames = batch.frames;
  while (!frames.empty()) {
    const std::string_view payload = frames.substr(0, ClaimedFrameSize(frames)).substr(kFrameHeaderBytes);
    out = WriteHead(kRecordsTag, payload.size(), out);
    out += payload.copy(reinterpret_cast<char*>(out), payload.size());
    crc = record::Crc32c(crc, payload);
    encoded.record_bytes += payload.size();
    frames.remove_prefix(kFrameHeaderBytes + payload.size());
  }
  out = CodedOutputStream::WriteTagToArray(kCrcTag, out);
  out = CodedOutputStream::WriteLittleEndian32ToArray(crc, out);
  encoded.body.resize(static_cast<size_t>(out - begin));

  uint8_t head[kMaxFieldHeadBytes];
  encoded.head.assign(reinterpret_cast<char*>(head),
                      static_cast<size_t>(WriteHead(kBatchTag, encoded.body.size(), head) - head));
  return encoded;
}

}  // namespace telemetry::client
