#pragma once

#include <cstdint>

namespace telemetry::record {

// The largest serialised record that a producer may send. A collector's limits must not be lower: the producer would
// send a record of this size again and again.
inline constexpr uint64_t kMaxRecordBytes = uint64_t{8} << 20;

}  // namespace telemetry::record
