#pragma once

#include <cstdint>

#include "proto/base/steady.h"
#include "server/net/socket.h"

namespace telemetry::net {

// Makes this process return free heap memory to the system soon. Call it before any thread is started.
void ReturnFreeMemory();

// The resident memory of this process, compared with a limit. Not thread-safe.
class ProcessMemory {
 public:
  // `limit_bytes` 0: no limit.
  explicit ProcessMemory(uint64_t limit_bytes);

  // Returns true if the process exceeds the limit even after returning free heap memory to the system, which takes
  // milliseconds.
  bool IsScarce();

 private:
  uint64_t ResidentBytes() const;

  const uint64_t limit_bytes_;
  const Socket statm_;
  SteadyTime next_trim_ = kLongAgo;
};

}  // namespace telemetry::net
