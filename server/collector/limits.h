#pragma once

#include <cstdint>

#include "absl/time/time.h"

namespace telemetry::collector {

// The most records in one batch, however small they are.
inline constexpr uint64_t kMaxBatchRecords = 65536;
// The largest record that a client sends: no limit may be below it, or that client would come back with it for ever.
inline constexpr uint64_t kLargestRecordBytes = uint64_t{8} << 20;
// What a batch may take in memory when it is parsed, by our own reckoning.
inline constexpr uint64_t kMaxBatchMemoryBytes = uint64_t{128} << 20;
// What frames a batch's records, and leaves room.
inline constexpr uint64_t kMaxFramingBytes = uint64_t{1} << 20;

// What bounds the collector's memory and latency.
struct Limits {
  // The most record bytes of one stream that may be unacknowledged.
  uint64_t window_bytes = uint64_t{16} << 20;
  // The most record bytes in one batch.
  uint64_t max_batch_bytes = kLargestRecordBytes;
  // The most bytes of all streams' records that are parsed and not yet committed, and of what holds them in memory.
  uint64_t in_flight_bytes = uint64_t{64} << 20;
  // The most bytes of all streams' messages that wait for room among them.
  uint64_t waiting_bytes = uint64_t{24} << 20;
  // The most bytes that gRPC holds of messages that arrive or wait, of all connections; beyond it it ends some.
  uint64_t receive_bytes = uint64_t{48} << 20;
  // The most bytes of all streams' Acks that their clients have not read.
  uint64_t unread_ack_bytes = uint64_t{16} << 20;
  // How long a batch may wait for room among the bytes in flight before its stream is told to come back later.
  absl::Duration admission_timeout = absl::Seconds(5);
  // What a stream that is turned away is told to wait.
  absl::Duration retry_delay = absl::Seconds(1);
  // The most that one transaction takes from what waits.
  uint64_t group_records = 20000;
  uint64_t group_bytes = uint64_t{16} << 20;
  // After this long without work the write-ahead log is emptied.
  absl::Duration idle_after = absl::Seconds(1);
};

}  // namespace telemetry::collector
