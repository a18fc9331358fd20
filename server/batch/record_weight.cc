#include "server/batch/record_weight.h"

#include <google/protobuf/wire_format_lite.h>

#include <algorithm>

#include "server/call/limits.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::batch {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// The objects of a record's kind, and the least memory of a record with the writer's own data about it.
constexpr uint64_t kKindBytes = 384;
constexpr uint64_t kRecordBytes = 512;
// The object of a string; the storage of a number in an unknown field.
constexpr uint64_t kStringBytes = 40;
constexpr uint64_t kNumberBytes = 12;
constexpr uint64_t kRowsOfSuperseded = 8;
// A record may use this many times its bytes plus a constant. The smallest meaningful graph node, with two short
// fields, uses about twenty times its bytes.
constexpr uint64_t kMostTimes = 24;
constexpr uint64_t kAlways = 1024;

// Calls `inside` at the content of each length-delimited field and returns the sum of the results.
template <typename Inside>
uint64_t WeighFields(CodedInputStream& in, uint32_t size, Inside inside) {
  const CodedInputStream::Limit limit = in.PushLimit(static_cast<int>(size));
  uint64_t bytes = 0;
  while (const uint32_t tag = in.ReadTag()) {
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      bytes += kNumberBytes;
      if (!WireFormatLite::SkipField(&in, tag)) break;
      continue;
    }
    uint32_t length = 0;
    if (!in.ReadVarint32(&length) || length > static_cast<uint32_t>(in.BytesUntilLimit())) break;
    bytes += inside(WireFormatLite::GetTagFieldNumber(tag), length);
  }
  // The parser also stops at bytes that are not a field.
  if (const int left = in.BytesUntilLimit(); left > 0) in.Skip(left);
  in.PopLimit(limit);
  return bytes;
}

uint64_t WeighString(CodedInputStream& in, uint32_t length) {
  in.Skip(static_cast<int>(length));
  return kStringBytes + length;
}

uint64_t WeighPart(CodedInputStream& in, uint32_t size) {
  return WeighFields(in, size, [&in](int /*field*/, uint32_t length) { return WeighString(in, length); });
}

uint64_t WeighKind(CodedInputStream& in, int kind, uint32_t size, uint64_t& rows) {
  const bool graph = kind == v1::Record::kIrGraphFieldNumber;
  const bool attempt = kind == v1::Record::kAttemptFieldNumber;
  return kKindBytes + WeighFields(in, size, [&](int field, uint32_t length) {
           const bool node = graph && field == v1::IrGraph::kNodesFieldNumber;
           const bool edge = graph && field == v1::IrGraph::kEdgesFieldNumber;
           if (node || edge) {
             ++rows;
             return (node ? sizeof(v1::IrNode) : sizeof(v1::IrEdge)) + WeighPart(in, length);
           }
           if (attempt && field == v1::Attempt::kSupersedesFieldNumber) rows += kRowsOfSuperseded;
           return WeighString(in, length);
         });
}

}  // namespace

RecordWeight Weigh(CodedInputStream& in, uint32_t size) {
  RecordWeight weight{.rows = 1};
  const auto weigh = [&](int kind, uint32_t length) { return WeighKind(in, kind, length, weight.rows); };
  weight.memory_bytes = std::max(kRecordBytes, WeighFields(in, size, weigh));
  return weight;
}

bool IsTooHeavy(uint64_t parsed_bytes, uint64_t size) {
  return parsed_bytes > call::kMaxRecordMemoryBytes || parsed_bytes > kAlways + kMostTimes * size;
}

}  // namespace telemetry::batch
