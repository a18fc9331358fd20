#pragma once

#include <google/protobuf/io/coded_stream.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/call/limits.h"
#include "telemetry/v1/ingest.pb.h"

namespace telemetry::batch {

// Consecutive records of a Batch that are admitted, parsed and committed together.
struct PieceOutline {
  uint64_t records = 0;
  uint64_t record_bytes = 0;
  // Estimated memory of the parsed records, and at least kLeastBytesOfRow for each row. A record that is too heavy is
  // not parsed and counts with its bytes.
  uint64_t memory_bytes = 0;
  // Estimated work of the writer, in rows (record_weight.h).
  uint64_t rows = 0;

  // Returns true for a single record above kShortPiece.
  bool is_indivisible() const {
    return records == 1 && (rows > call::kShortPiece.rows || record_bytes > call::kShortPiece.bytes);
  }
};

// The properties of a Batch that can be read without creating objects for its records.
struct BatchOutline {
  uint64_t first_seq = 0;
  uint64_t records = 0;
  uint64_t record_bytes = 0;
  // All records of the batch, in order, in pieces within the limits.
  std::vector<PieceOutline> pieces;
  // Positions in the batch of the records that are too heavy to be parsed (record_weight.h), in ascending order.
  std::vector<uint64_t> too_heavy;
  uint32_t claimed_crc32c = 0;
  uint32_t crc32c = 0;  // computed from the received records
};

// A StreamRequest or an IngestRequest, which have the same wire format.
struct RequestOutline {
  std::optional<v1::Open> open;
  std::optional<BatchOutline> batch;
};

// Reads the outline of a message without copying the message. A few bytes of a message can ask for many objects, such
// as a million empty records; therefore they are counted here and created only after admission. Returns
// INVALID_ARGUMENT if the bytes are not such a message, repeat a field, or have more than kMaxBatchRecords records.
absl::StatusOr<RequestOutline> ReadOutline(const grpc::ByteBuffer& message,
                                           const call::PieceLimits& limits = call::PieceLimits());

// A cursor over the records of a message that ReadOutline has accepted. Shares the memory of the message. Not
// thread-safe.
class RecordCursor {
 public:
  explicit RecordCursor(const grpc::ByteBuffer& message);

  // Reads the bytes of the next record. Returns false if the batch has no more records.
  bool Next(std::string& bytes);

 private:
  // Moves to the beginning of the batch. Returns false if the message has none.
  bool FindBatch();

  grpc::ByteBuffer message_;
  grpc::ProtoBufferReader reader_;
  google::protobuf::io::CodedInputStream in_;
  bool in_batch_;
};

}  // namespace telemetry::batch
