#pragma once

#include <google/protobuf/arena.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "server/collector/limits.h"
#include "server/collector/request_outline.h"
#include "server/storage/store.h"
#include "telemetry/v1/ingest.pb.h"

namespace telemetry::collector {

// A batch, parsed and validated, on its way to the writer. It owns its records.
class ParsedBatch {
 public:
  // Parses the records of a message whose outline CheckBatch has found in order. Records that do not parse, are larger
  // than `sizes` or that Validate has something against, are marked as refused.
  ParsedBatch(std::string producer_id, uint64_t epoch, const BatchOutline& outline, const grpc::ByteBuffer& message,
              const storage::RecordSizes& sizes);

  // Moves the batch out for the writer; the records stay here and must outlive it.
  storage::ProducerBatch& mutable_batch() { return batch_; }
  uint64_t bytes() const { return bytes_; }
  uint64_t memory_bytes() const { return memory_bytes_; }
  // Records that were refused for their size.
  uint64_t too_large() const { return too_large_; }

 private:
  void Parse(const std::string& bytes, uint64_t seq, const storage::RecordSizes& sizes);
  void Refuse(const std::string& bytes, uint64_t seq, const char* why);

  google::protobuf::Arena arena_;
  storage::ProducerBatch batch_;
  uint64_t bytes_ = 0;
  uint64_t memory_bytes_ = 0;
  uint64_t too_large_ = 0;
};

// INVALID_ARGUMENT: empty, more than kMaxBatchRecords, more than kMaxBatchMemoryBytes, or sequence numbers outside
// 1..2^63-1. RESOURCE_EXHAUSTED: above max_batch_bytes. DATA_LOSS: its CRC does not match.
absl::Status CheckBatch(const BatchOutline& batch, const Limits& limits);

// INVALID_ARGUMENT: producer_id is not 16 bytes, or client is longer than a line for a person.
absl::Status CheckOpen(const v1::Open& open);

}  // namespace telemetry::collector
