#pragma once

#include <google/protobuf/arena.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "server/batch/request_outline.h"
#include "server/call/limits.h"
#include "server/storage/store.h"
#include "telemetry/v1/ingest.pb.h"

namespace telemetry::collector {

// A piece of a batch, parsed and validated, on its way to the writer. It owns its records.
class ParsedBatch {
 public:
  // `first_seq`: of the first record that is added.
  ParsedBatch(std::string producer_id, uint64_t epoch, uint64_t first_seq, const PieceOutline& piece);

  // Appends the next record. One that does not parse, is larger than `sizes`, or that Validate has something against,
  // is marked as refused.
  void Add(const std::string& bytes, const storage::RecordSizes& sizes);
  // Appends the next record unparsed, marked as refused.
  void AddTooHeavy(const std::string& bytes);

  // Moves the batch out for the writer; the records stay here and must outlive it.
  storage::ProducerBatch& mutable_batch() { return batch_; }
  const std::string& producer_id() const { return batch_.producer_id; }
  uint64_t bytes() const { return bytes_; }
  uint64_t memory_bytes() const { return memory_bytes_; }
  // Records that were refused for their size.
  uint64_t too_large() const { return too_large_; }
  // Estimated work of the writer (record_weight.h).
  uint64_t rows() const { return rows_; }

 private:
  uint64_t next_seq() const { return batch_.first_seq + batch_.records.size(); }
  void Refuse(const std::string& bytes, const char* why);

  google::protobuf::Arena arena_;
  storage::ProducerBatch batch_;
  const uint64_t bytes_;
  const uint64_t memory_bytes_;
  const uint64_t rows_;
  uint64_t too_large_ = 0;
};

// INVALID_ARGUMENT: empty, more than kMaxBatchRecords, or sequence numbers outside
// 1..2^63-1. RESOURCE_EXHAUSTED: above max_batch_bytes. DATA_LOSS: its CRC does not match.
absl::Status CheckBatch(const BatchOutline& batch, const Limits& limits);

// INVALID_ARGUMENT: producer_id is not 16 bytes, or client is longer than a line for a person.
absl::Status CheckOpen(const v1::Open& open);

}  // namespace telemetry::collector
