#pragma once

#include <cstdint>

#include "server/storage/refusal.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage {

// The most bytes of the parts of a record that have a flag of their own.
struct RecordSizes {
  uint64_t source_bytes = uint64_t{1} << 20;
  uint64_t ir_graph_bytes = uint64_t{4} << 20;
  // A config's text; a decorator.
  uint64_t config_bytes = uint64_t{64} << 10;
  // One JSON text, which is parsed to look at it; a node or an edge of a graph, which holds some.
  uint64_t json_bytes = uint64_t{256} << 10;
  // A failure with all its texts.
  uint64_t failure_bytes = uint64_t{1} << 20;
};

// The most bytes of a name: a status, an origin, a dialect, hardware, an algorithm, a hash, the name of a file.
inline constexpr uint64_t kMaxNameBytes = uint64_t{4} << 10;
// The most bytes of a text that lists things or is for people: input shapes, dtypes, a kernel's name, a message.
inline constexpr uint64_t kMaxTextBytes = uint64_t{64} << 10;
// The most ids in `supersedes`. The project's own producers send at most 31.
inline constexpr uint64_t kMaxSuperseded = 256;
// The most samples of a measurement.
inline constexpr uint64_t kMaxSamples = uint64_t{64} << 10;
// The most nodes and edges of a graph together: each becomes a row.
inline constexpr uint64_t kMaxGraphParts = uint64_t{32} << 10;

// Refuses a record with a larger part; the message names the part, its limit, and the collector's flag where there is
// one. Ids have one length each, which Validate checks. Reject.raw has no limit but the record's own: it is what could
// not become a record. Thread-safe and without side effects.
MaybeRefusal CheckSizes(const v1::Record& record, const RecordSizes& most);

}  // namespace telemetry::storage
