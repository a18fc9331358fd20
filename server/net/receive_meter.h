#pragma once

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/net/network.h"

namespace telemetry::net {

// Estimates the bytes of unfinished messages that the server of a port holds, for each connection: the bytes that it
// has read, less the messages that it has received whole. Selects the connections to end when these are too many, or
// when memory is scarce.
//
// The allowance for the framing of messages is a little more than framing takes, so that the estimate does not grow on
// a connection that works. When a call ends within a message, its bytes count until the connection has no more calls.
// Thread-safe.
class ReceiveMeter {
 public:
  // The limit of all connections together. Those of one network have three quarters of it.
  explicit ReceiveMeter(uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // A connection without calls holds nothing.
  void BeginCall(const Peer& peer) ABSL_LOCKS_EXCLUDED(mutex_);
  void EndCall(const Peer& peer) ABSL_LOCKS_EXCLUDED(mutex_);
  // The server has got a message of this connection.
  void AddMessage(const Peer& peer, uint64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);

  struct Reading {
    Peer peer;
    uint64_t read_bytes = 0;  // by the server, since the connection began
  };
  struct Excess {
    Peer peer;
    uint64_t bytes = 0;
  };
  // Takes the readings of all connections, `elapsed` after the last ones. Returns the connections to be ended: while
  // there is too much, the one that holds most in the network that holds most. While memory is scarce, the limit is
  // half of the bytes held, and recently read bytes count as held, because headers of calls take many times their size
  // in memory. A network that holds at most 256 KiB then keeps its connections.
  std::vector<Excess> Update(const std::vector<Reading>& readings, absl::Duration elapsed, bool memory_is_scarce)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Connection {
    uint64_t calls = 0;
    uint64_t read_bytes = 0;
    uint64_t allowed_bytes = 0;  // messages since the last reading, with their framing
    uint64_t held_bytes = 0;
    double recent_bytes = 0;  // that belong to no whole message; halves each kRecent
    bool is_open = false;
  };
  std::vector<Excess> FindExcess(bool memory_is_scarce) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const uint64_t limit_bytes_;
  absl::Mutex mutex_;
  absl::Duration unused_time_ ABSL_GUARDED_BY(mutex_);  // too short to allow for a byte
  absl::flat_hash_map<Peer, Connection> connections_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::net
