#pragma once

#include <cstdint>

#include "server/storage/refusal.h"
#include "telemetry/v1/records.pb.h"

namespace telemetry::storage {

// The most bytes of what a record holds.
struct RecordSizes {
  uint64_t source_bytes = uint64_t{1} << 20;
  uint64_t ir_graph_bytes = uint64_t{4} << 20;
  uint64_t config_bytes = uint64_t{64} << 10;
  // Of one JSON text, which is taken apart to look at it; and of a graph's node or edge, which holds some.
  uint64_t json_bytes = uint64_t{256} << 10;
};

// Refuses what is larger, in words that name the collector's flag. Thread-safe and without side effects.
MaybeRefusal CheckSizes(const v1::Record& record, const RecordSizes& most);

}  // namespace telemetry::storage
