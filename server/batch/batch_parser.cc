#include "server/batch/batch_parser.h"

#include <utility>

namespace telemetry::batch {

BatchParser::BatchParser(std::string producer_id, uint64_t epoch, BatchOutline outline, const grpc::ByteBuffer& message,
                         const storage::RecordSizes& sizes)
    : producer_id_(std::move(producer_id)),
      epoch_(epoch),
      outline_(std::move(outline)),
      sizes_(sizes),
      records_(message) {}

std::unique_ptr<ParsedBatch> BatchParser::ParseNext() {
  const PieceOutline& piece = outline_.pieces[next_++];
  auto batch = std::make_unique<ParsedBatch>(producer_id_, epoch_, outline_.first_seq + position_, piece);
  std::string bytes;
  for (uint64_t i = 0; i < piece.records && records_.Next(bytes); ++i, ++position_) {
    if (next_too_heavy_ < outline_.too_heavy.size() && outline_.too_heavy[next_too_heavy_] == position_) {
      ++next_too_heavy_;
      batch->AddTooHeavy(bytes);
    } else {
      batch->Add(bytes, sizes_);
    }
  }
  return batch;
}

}  // namespace telemetry::batch
