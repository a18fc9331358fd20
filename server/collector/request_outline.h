#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "telemetry/v1/ingest.pb.h"

namespace telemetry::collector {

// What can be said of a Batch without making objects of it.
struct BatchOutline {
  uint64_t first_seq = 0;
  uint64_t records = 0;
  uint64_t record_bytes = 0;
  // What the records take in memory when they are parsed, roughly; the hollow ones are not parsed.
  uint64_t memory_bytes = 0;
  // Positions of the records that ask for far more memory than they have bytes, ascending.
  std::vector<uint64_t> hollow;
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

// Calls `use` with each record's bytes, in order. `message` is one that ReadOutline has read.
void ForEachRecord(const grpc::ByteBuffer& message, absl::FunctionRef<void(const std::string&)> use);

}  // namespace telemetry::collector
