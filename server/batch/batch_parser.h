#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "server/batch/parsed_batch.h"
#include "server/batch/request_outline.h"
#include "server/storage/record_sizes.h"

namespace telemetry::batch {

// Parses a batch piece by piece, so that one piece is admitted and committed before the memory of the next one is
// needed. Not thread-safe.
class BatchParser {
 public:
  // CheckBatch must have accepted the outline of `message`. The parser shares the bytes of `message`. `sizes` must
  // outlive the parser.
  BatchParser(std::string producer_id, uint64_t epoch, BatchOutline outline, const grpc::ByteBuffer& message,
              const storage::RecordSizes& sizes);

  bool done() const { return next_ == outline_.pieces.size(); }
  // Returns the piece that the next call of ParseNext parses. Requires !done().
  const PieceOutline& next() const { return outline_.pieces[next_]; }

  // Parses the next piece. A record is marked as refused if it is too heavy, does not parse, exceeds `sizes` or does
  // not pass Validate().
  std::unique_ptr<ParsedBatch> ParseNext();

 private:
  const std::string producer_id_;
  const uint64_t epoch_;
  const BatchOutline outline_;
  const storage::RecordSizes& sizes_;
  RecordCursor records_;
  size_t next_ = 0;
  uint64_t position_ = 0;      // of the next record in the batch
  size_t next_too_heavy_ = 0;  // index into outline_.too_heavy
};

}  // namespace telemetry::batch
