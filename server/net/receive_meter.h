#pragma once

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/net/network.h"

namespace telemetry::net {

// An estimate of the bytes of unfinished messages that the server of a port holds for each connection: the bytes that
// the server has read, less the complete messages that it has received. Selects the connections to end when the
// estimate exceeds a limit or memory is scarce, and the connections that keep the server from reading others.
//
// The allowance for the framing of messages is slightly larger than the framing, so that the estimate does not grow on
// a connection that works. When a call ends within a message, the bytes of the message count until the connection has
// no more calls. Thread-safe.
class ReceiveMeter {
 public:
  // `limit_bytes`: the limit of all connections together. One network may hold three quarters of it. `message_bytes`:
  // the longest message.
  explicit ReceiveMeter(uint64_t limit_bytes, uint64_t message_bytes = uint64_t{9} << 20)
      : limit_bytes_(limit_bytes), message_bytes_(message_bytes) {}

  // Counts the beginning of a call. A connection without calls holds nothing.
  void BeginCall(const Peer& peer) ABSL_LOCKS_EXCLUDED(mutex_);
  void EndCall(const Peer& peer) ABSL_LOCKS_EXCLUDED(mutex_);
  // Counts a complete message that the server received on this connection.
  void AddMessage(const Peer& peer, uint64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);

  struct Reading {
    Peer peer;
    uint64_t read_bytes = 0;  // bytes that the server has read since the connection began
  };
  struct Excess {
    Peer peer;
    uint64_t bytes = 0;
  };
  // Takes the readings of all connections, `elapsed` after the previous ones. Returns the connections to end: while a
  // limit is exceeded, the connection that holds most in the network that holds most. While memory is scarce, the limit
  // is half of the bytes held. Recently read bytes then count as held, because headers of calls use many times their
  // size in memory, and a network that holds at most 256 KiB keeps its connections.
  std::vector<Excess> Update(const std::vector<Reading>& readings, absl::Duration elapsed, bool memory_is_scarce)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the time until the limit is reached if bytes of no complete message come as fast as between the last two
  // readings.
  absl::Duration TimeToLimit() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Finds the connection that keeps the server busy: the one from which it has read most bytes of no complete message
  // in the last tenth of a second, if they are more than 320 KiB and more than a message for each call of the
  // connection. Returns it, the others of its network like it, and those that have not sent a complete message yet,
  // because they may be next.
  std::vector<Excess> FindBusiest() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Connection {
    uint64_t calls = 0;
    uint64_t read_bytes = 0;
    uint64_t allowed_bytes = 0;  // messages since the last reading, with their framing
    uint64_t held_bytes = 0;
    double recent_bytes = 0;  // recently read bytes of no complete message; halved every kRecent
    bool is_open = false;
    bool has_message = false;  // a complete message has arrived
  };
  std::vector<Excess> FindExcess(bool memory_is_scarce) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns true if more was read lately than messages and their beginnings explain.
  bool IsBusy(const Connection& connection) const;

  const uint64_t limit_bytes_;
  const uint64_t message_bytes_;
  mutable absl::Mutex mutex_;
  absl::Duration unused_time_ ABSL_GUARDED_BY(mutex_);  // remainder that is too short to allow one byte
  // At the last reading: the bytes held, and the bytes of no complete message read per second.
  uint64_t held_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  double bytes_per_s_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<Peer, Connection> connections_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace telemetry::net
