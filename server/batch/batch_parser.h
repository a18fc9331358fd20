#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "server/batch/parsed_batch.h"
#include "server/batch/request_outline.h"
#include "server/storage/record_sizes.h"

namespace telemetry::collector {

// Parses a batch piece by piece, so that each piece is admitted and committed before the memory of the next one is
// needed. Not thread-safe.
class BatchParser {
 public:
  // `message` is one whose outline CheckBatch has found in order; its bytes are shared. `sizes` must outlive the
  // parser.
  BatchParser(std::string producer_id, uint64_t epoch, BatchOutline outline, const grpc::ByteBuffer& message,
              const storage::RecordSizes& sizes);

  bool done() const { return next_ == outline_.pieces.size(); }
  // The piece that ParseNext parses; not when done.
  const PieceOutline& next() const { return outline_.pieces[next_]; }

  // Parses the next piece. Records that are too heavy, do not parse, are larger than `sizes`, or that Validate has
  // something against, are marked as refused.
  std::unique_ptr<ParsedBatch> ParseNext();

 private:
  const std::string producer_id_;
  const uint64_t epoch_;
  const BatchOutline outline_;
  const storage::RecordSizes& sizes_;
  RecordCursor records_;
  size_t next_ = 0;
  uint64_t position_ = 0;      // in the batch, of the next record
  size_t next_too_heavy_ = 0;  // of outline_.too_heavy
};

}  // namespace telemetry::collector
