#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/faults/attacks/raw_http2.h"

namespace telemetry::faults {

// A client on one connection that is idle, slow, or never reads ("deaf").
struct IdleClient {
  enum Kind { kNothing, kSlowPreface, kNoCall, kSlowOpen, kSlowBatch, kDeaf, kKinds };
  Kind kind;
  RawConnection connection;
  std::string rest = "";  // bytes left to send, one at a time
  // The time from `begin` until the collector closed the connection; unset while it is open.
  std::optional<absl::Duration> closed_after = std::nullopt;
};

// Returns a client whose kind is selected by `number`. `host` is the last number of its address 127.0.0.x.
IdleClient MakeIdleClient(int port, int number, uint32_t host = 1);

// Sends one byte for each client, evenly spread over `period`, and sets closed_after of the clients whose connection is
// closed. Returns after `period`.
void Tick(std::vector<IdleClient>& clients, absl::Time begin, absl::Duration period);

}  // namespace telemetry::faults
