#pragma once

#include <cstdint>
#include <string>

#include "client/spool.h"

namespace telemetry::client {

// A serialised v1::StreamRequest that holds a v1::Batch, in two pieces to be sent one after the other.
struct EncodedBatch {
  std::string head;
  std::string body;
  uint64_t record_bytes = 0;  // the payloads alone: what window_bytes and max_batch_bytes count
};

// Written by hand: the records go from the spool's bytes to the wire's without becoming objects in between, which is a
// third of a producer's time otherwise. `wire_seq` is the first record's number to the collector. Pure function.
EncodedBatch EncodeBatch(const SpoolBatch& batch, uint64_t wire_seq);

}  // namespace telemetry::client
