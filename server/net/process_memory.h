#pragma once

#include <cstdint>

#include "proto/base/steady.h"
#include "server/net/socket.h"

namespace telemetry::net {

// The resident memory of this process, compared with a limit. A program that is linked with it uses jemalloc as its
// heap, except with sanitizers, which have their own. Not thread-safe.
class ProcessMemory {
 public:
  // `limit_bytes` 0: no limit.
  explicit ProcessMemory(uint64_t limit_bytes);

  // Returns true if the process exceeds the limit even after returning free heap memory to the system. Memory that
  // jemalloc's own thread is returning at this moment still counts, because jemalloc then ignores a second request.
  bool IsScarce();

 private:
  uint64_t ResidentBytes() const;

  const uint64_t limit_bytes_;
  const Socket statm_;
  SteadyTime next_purge_ = kLongAgo;
};

}  // namespace telemetry::net
