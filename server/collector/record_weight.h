#pragma once

#include <google/protobuf/io/coded_stream.h>

#include <cstdint>

namespace telemetry::collector {

// What the serialised Record of `size` bytes that begins here takes in memory when it is parsed, roughly. Two bytes can
// ask for a node of a graph or for a string, each of hundreds. Reads exactly `size` bytes, or to the end of `in`.
uint64_t ParsedBytes(google::protobuf::io::CodedInputStream& in, uint32_t size);

// Whether a record of `size` bytes asks for far more memory than any does that means something.
bool IsHollow(uint64_t parsed_bytes, uint64_t size);

}  // namespace telemetry::collector
