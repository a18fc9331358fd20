#pragma once

#include <cstdint>

#include "absl/time/time.h"

namespace telemetry::collector {

// What bounds the collector's memory and latency.
struct Limits {
  // The most record bytes of one stream that may be unacknowledged.
  uint64_t window_bytes = uint64_t{16} << 20;
  // The most record bytes in one batch. A client's largest record (8 MiB) has to fit.
  uint64_t max_batch_bytes = uint64_t{8} << 20;
  // The most record bytes of all streams that are parsed and not yet committed.
  uint64_t in_flight_bytes = uint64_t{64} << 20;
  // How long a batch may wait for room among them before its stream is told to come back later.
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
