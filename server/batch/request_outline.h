#pragma once

#include <google/protobuf/io/coded_stream.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "telemetry/v1/ingest.pb.h"

namespace telemetry::collector {

// Consecutive records of a Batch that are admitted, parsed and committed together.
struct PieceOutline {
  uint64_t records = 0;
  uint64_t record_bytes = 0;
  // Estimated memory of the parsed records, and at least kLeastBytesOfRow for each row. A record that is too heavy is
  // not parsed and counts its bytes.
  uint64_t memory_bytes = 0;
  // Estimated work of the writer (record_weight.h).
  uint64_t rows = 0;
};

// The parts of a Batch that are known without making objects of its records.
struct BatchOutline {
  uint64_t first_seq = 0;
  uint64_t records = 0;
  uint64_t record_bytes = 0;
  // The whole batch in order, within the limits of kMaxPiece... (limits.h).
  std::vector<PieceOutline> pieces;
  // Positions in the batch of the records that are too heavy to be parsed (record_weight.h), ascending.
  std::vector<uint64_t> too_heavy;
  uint32_t claimed_crc32c = 0;
  uint32_t crc32c = 0;  // of the records that are there
};

// A StreamRequest or an IngestRequest, which look alike on the wire.
struct RequestOutline {
  std::optional<v1::Open> open;
  std::optional<BatchOutline> batch;
};

// Reads a message where it lies. A few bytes of a message can ask for many objects (a million records, of nothing): so
// they are counted here, and made only when there is room for them. INVALID_ARGUMENT: not such a message, or one that
// says something twice.
absl::StatusOr<RequestOutline> ReadOutline(const grpc::ByteBuffer& message);

// A cursor over the records of a message that ReadOutline has read. Shares the message's memory. Not thread-safe.
class RecordCursor {
 public:
  explicit RecordCursor(const grpc::ByteBuffer& message);

  // Reads the next record's bytes. False: the batch has no more records.
  bool Next(std::string& bytes);

 private:
  // Moves to the beginning of the batch; false: the message has none.
  bool FindBatch();

  grpc::ByteBuffer message_;
  grpc::ProtoBufferReader reader_;
  google::protobuf::io::CodedInputStream in_;
  bool in_batch_;
};

}  // namespace telemetry::collector
