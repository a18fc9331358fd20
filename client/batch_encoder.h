#pragma once

#include <cstdint>
#include <string>

#include "client/spool.h"

namespace telemetry::client {

// A serialised v1::StreamRequest with a v1::Batch, in two pieces that are sent one after the other.
struct EncodedBatch {
  std::string head;
  std::string body;
  uint64_t record_bytes = 0;  // sum of the payload sizes, the quantity that window_bytes and max_batch_bytes limit
};

// Returns the wire format of the batch. The encoder is written by hand: it copies records from the spool's bytes to the
// wire's bytes without building message objects, which would cost a third of a producer's time. `wire_seq` is the first
// record's number on the wire. Pure function.
EncodedBatch EncodeBatch(const SpoolBatch& batch, uint64_t wire_seq);

}  // namespace telemetry::client
