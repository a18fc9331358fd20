#pragma once

#include <google/protobuf/io/coded_stream.h>

#include <cstdint>

namespace telemetry::collector {

// The estimated cost of a record to the collector.
struct RecordWeight {
  // Memory of the parsed record. Two bytes can ask for a node of a graph or for a string, each of hundreds.
  uint64_t memory_bytes = 0;
  // The writer's work, in rows: the record, each node and edge of a graph, and eight for each id that is superseded,
  // which is a place of its own in two indexes.
  uint64_t rows = 0;
};

// Weighs the serialised Record of `size` bytes that begins here. Reads exactly `size` bytes, or to the end of `in`.
RecordWeight Weigh(google::protobuf::io::CodedInputStream& in, uint32_t size);

// Returns true for a record of `size` bytes that must not be parsed: it takes more memory than kMaxRecordMemoryBytes,
// or far more than its bytes, as no record does that means something.
bool IsTooHeavy(uint64_t parsed_bytes, uint64_t size);

}  // namespace telemetry::collector
