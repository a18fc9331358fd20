#pragma once

#include <google/protobuf/io/coded_stream.h>

#include <cstdint>

namespace telemetry::batch {

// The estimated cost of a record to the collector.
struct RecordWeight {
  // Memory of the parsed record. Two bytes on the wire can create a graph node or a string, each of which takes
  // hundreds of bytes.
  uint64_t memory_bytes = 0;
  // The writer's work in rows: one for the record, one for each node and edge of a graph, and eight for each superseded
  // id, which occupies a separate place in two indexes.
  uint64_t rows = 0;
};

// Returns the weight of the serialised Record of `size` bytes at the current position. Reads exactly `size` bytes, or
// up to the end of `in`.
RecordWeight Weigh(google::protobuf::io::CodedInputStream& in, uint32_t size);

// Returns true if a record of `size` bytes must not be parsed: the parsed record would use more than
// kMaxRecordMemoryBytes, or far more memory per byte than any meaningful record.
bool IsTooHeavy(uint64_t parsed_bytes, uint64_t size);

}  // namespace telemetry::batch
