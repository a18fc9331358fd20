#pragma once

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "proto/base/steady.h"
#include "server/net/network.h"

namespace telemetry::net {

// The pace at which connections of each network are handed over: kTurnsAtOnce immediately, then one every kTurnEvery,
// so that the server does not have to read at once everything that they sent beforehand. A network that floods is
// shunned for a time that doubles while the flood continues. For kRemember after that it has a turn every
// kSlowTurnEvery and none of its connections waits for one. Not thread-safe.
class NetworkPace {
 public:
  static constexpr absl::Duration kTurnEvery = absl::Milliseconds(10);
  static constexpr int kTurnsAtOnce = 4;
  static constexpr absl::Duration kSlowTurnEvery = absl::Milliseconds(50);
  static constexpr absl::Duration kShortestShun = absl::Seconds(1);
  // A client that retries is served within 5 s after its network's flood.
  static constexpr absl::Duration kLongestShun = absl::Seconds(4);
  // After this much time without a flood, the network is like any other.
  static constexpr absl::Duration kRemember = absl::Seconds(10);

  enum class Turn { kNow, kLater, kNever };

  // Takes the next turn of the network. kLater: its next turn is not due. kNever: the connection should be reset,
  // because the network is shunned, or was shunned recently and its next turn is not due.
  Turn TakeTurn(const Network& network, SteadyTime now);
  void Shun(const Network& network, SteadyTime now);
  bool IsShunned(const Network& network, SteadyTime now) const;
  // Forgets networks whose state no longer matters. Should be called periodically.
  void Forget(SteadyTime now);

 private:
  struct State {
    SteadyTime next_turn;
    SteadyTime shunned_until;
    absl::Duration shun = absl::ZeroDuration();  // duration of the last shun
  };

  absl::flat_hash_map<Network, State> networks_;
};

}  // namespace telemetry::net
