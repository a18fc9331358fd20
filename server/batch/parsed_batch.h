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

namespace telemetry::batch {

// A parsed and validated piece of a batch on its way to the writer. Owns its records.
class ParsedBatch {
 public:
  // `first_seq`: the sequence number of the first record that is added.
  ParsedBatch(std::string producer_id, uint64_t epoch, uint64_t first_seq, const PieceOutline& piece);

  // Appends the next record. The record is marked as refused if it does not parse, exceeds `sizes` or does not pass
  // Validate().
  void Add(const std::string& bytes, const storage::RecordSizes& sizes);
  // Appends the next record unparsed, marked as refused.
  void AddTooHeavy(const std::string& bytes);

  // Returns the batch, which the writer moves out. The records stay in this object, which must outlive the moved batch.
  storage::ProducerBatch& mutable_batch() { return batch_; }
  const std::string& producer_id() const { return batch_.producer_id; }
  uint64_t bytes() const { return bytes_; }
  uint64_t memory_bytes() const { return memory_bytes_; }
  // Records refused for their size.
  uint64_t too_large() const { return too_large_; }
  // The estimated work of the writer, in rows (record_weight.h).
  uint64_t rows() const { return rows_; }

 private:
  void Refuse(const std::string& bytes, const char* why);

  google::protobuf::Arena arena_;
  storage::ProducerBatch batch_;
  const uint64_t bytes_;
  const uint64_t memory_bytes_;
  const uint64_t rows_;
  uint64_t too_large_ = 0;
};

// Returns INVALID_ARGUMENT if the batch is empty or has sequence numbers outside 1..2^63-1; RESOURCE_EXHAUSTED if it
// exceeds max_batch_bytes; DATA_LOSS if its CRC does not match.
absl::Status CheckBatch(const BatchOutline& batch, const call::Limits& limits);

// Returns INVALID_ARGUMENT if producer_id is not 16 bytes long, or if client is longer than 1024 bytes.
absl::Status CheckOpen(const v1::Open& open);

}  // namespace telemetry::batch
