#pragma once

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "proto/base/steady.h"
#include "server/net/network.h"

namespace telemetry::net {

// Spares the machine a storm of connections that would be reset anyway. A network of which kResets connections were
// reset within kWindow is dropped for kDropFor: a filter of the listening socket (SO_ATTACH_FILTER) makes the kernel
// ignore its packets, so that no connection begins. Its clients find no port meanwhile and try again after a second.
// Connections that exist are not affected. Not thread-safe.
class StormFilter {
 public:
  static constexpr int kResets = 64;
  static constexpr absl::Duration kWindow = absl::Milliseconds(100);
  // Short, because clients of the network that mean well are dropped too.
  static constexpr absl::Duration kDropFor = absl::Milliseconds(250);
  // The most networks that are dropped at the same time; the kernel compares a packet with each.
  static constexpr size_t kMostDropped = 256;

  // Counts a connection of the network that was reset. Returns true if dropped() has changed.
  bool CountReset(const Network& network, SteadyTime now);
  // Ends the drops whose time has passed. Returns true if dropped() has changed.
  bool Expire(SteadyTime now);
  // Returns when Expire should be called next; kNever: not before the next CountReset.
  SteadyTime next_expiry() const { return next_expiry_; }

  std::vector<Network> dropped() const;

 private:
  struct State {
    int resets = 0;
    SteadyTime window_end;
    SteadyTime dropped_until = kLongAgo;
  };

  absl::flat_hash_map<Network, State> networks_;
  size_t dropped_ = 0;
  SteadyTime next_expiry_ = kNever;
};

// Makes the kernel ignore the packets of these networks, at most StormFilter::kMostDropped, for connections that this
// listening socket would accept. Replaces the networks of the last call; none: accepts from all. Returns false if the
// kernel refuses the filter; then it has none.
bool DropPackets(int listener, const std::vector<Network>& networks);
// Removes the filter that a connection has from its listening socket.
void AcceptPackets(int connection);

}  // namespace telemetry::net
