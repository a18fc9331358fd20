#pragma once

#include <google/protobuf/arena.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "server/collector/limits.h"
#include "server/storage/store.h"
#include "telemetry/v1/ingest.pb.h"

namespace telemetry::collector {

// A batch, parsed and validated, on its way to the writer. It owns its records.
class ParsedBatch {
 public:
  // Parses what CheckBatch has found in order. Records that do not parse, or that Validate has something against, are
  // marked as refused.
  ParsedBatch(std::string producer_id, uint64_t epoch, const v1::Batch& batch);

  // Moves the batch out for the writer; the records stay here and must outlive it.
  storage::ProducerBatch& mutable_batch() { return batch_; }
  uint64_t bytes() const { return bytes_; }
  uint64_t memory_bytes() const { return memory_bytes_; }

 private:
  void Parse(const std::string& bytes, uint64_t seq);

  google::protobuf::Arena arena_;
  storage::ProducerBatch batch_;
  uint64_t bytes_ = 0;
  uint64_t memory_bytes_ = 0;
};

// The record bytes in a batch.
uint64_t RecordBytes(const v1::Batch& batch);
// What the batch takes in memory, roughly: an empty record is as large as a small one when it is parsed.
uint64_t MemoryBytes(const v1::Batch& batch);

// INVALID_ARGUMENT: empty, more than kMaxBatchRecords, or sequence numbers outside 1..2^63-1. RESOURCE_EXHAUSTED: above
// max_batch_bytes. DATA_LOSS: its CRC does not match.
absl::Status CheckBatch(const v1::Batch& batch, const Limits& limits);

// INVALID_ARGUMENT: producer_id is not 16 bytes.
absl::Status CheckOpen(const v1::Open& open);

}  // namespace telemetry::collector
