#pragma once

#include <cstdint>

#include "server/storage/refusal.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage {

// Size limits of the parts of a record that have their own command-line flag, in bytes.
struct RecordSizes {
  uint64_t source_bytes = uint64_t{1} << 20;
  uint64_t ir_graph_bytes = uint64_t{4} << 20;
  // A config's text, or a decorator.
  uint64_t config_bytes = uint64_t{64} << 10;
  // One JSON text, which is parsed for validation. Also a node or an edge of a graph, which contains JSON texts.
  uint64_t json_bytes = uint64_t{256} << 10;
  // A failure with all its texts.
  uint64_t failure_bytes = uint64_t{1} << 20;
  // The text of an event, such as a prompt of a search that asks a model.
  uint64_t event_bytes = uint64_t{4} << 20;
};

// Limit of a name: status, event, origin, dialect, hardware, algorithm, hash, file name.
inline constexpr uint64_t kMaxNameBytes = uint64_t{4} << 10;
// Limit of a list or a text for people: input shapes, dtypes, a kernel's name, a message.
inline constexpr uint64_t kMaxTextBytes = uint64_t{64} << 10;
// Limit of the number of ids in `supersedes`. The project's own producers send at most 32.
inline constexpr uint64_t kMaxSuperseded = 256;
// Limit of the number of samples of a measurement.
inline constexpr uint64_t kMaxSamples = uint64_t{64} << 10;
// Limit of the number of nodes and edges of a graph together: each becomes a row.
inline constexpr uint64_t kMaxGraphParts = uint64_t{32} << 10;

// Refuses a record with a part that exceeds its limit. The message names the part, the limit, and the collector's flag
// if there is one. Ids have a fixed length each, which Validate() checks. Reject.raw has no limit except the record's
// own: it is the text that could not become a record. Thread-safe and without side effects.
MaybeRefusal CheckSizes(const v1::Record& record, const RecordSizes& most);

}  // namespace telemetry::storage
