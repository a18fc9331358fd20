#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/faults/raw_http2.h"

namespace telemetry::faults {

// A client that is idle, slow or deaf, on one connection.
struct IdleClient {
  enum Kind { kNothing, kSlowPreface, kNoCall, kSlowOpen, kSlowBatch, kDeaf, kKinds };
  Kind kind;
  RawConnection connection;
  std::string rest = "";  // bytes that it has yet to send, one at a time
  // Time from `begin` until the collector closed the connection; unset: it has not.
  std::optional<absl::Duration> closed_after = std::nullopt;
};

// Returns a client of the kind that the number gives. `host`: the last number of its address 127.0.0.x.
IdleClient MakeIdleClient(int port, int number, uint32_t host = 1);

// Sends a byte of each client and sets closed_after of those whose connection is closed. Takes `period`, over which the
// bytes are spread.
void Tick(std::vector<IdleClient>& clients, absl::Time begin, absl::Duration period);

}  // namespace telemetry::faults
