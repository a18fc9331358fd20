#pragma once

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "proto/clock/steady.h"
#include "server/net/network.h"

namespace telemetry::net {

// Decides when each network's connections may be served: a few at once, then one each kTurnEvery, so that whatever they
// sent beforehand does not have to be read in one piece. A network that floods is shunned for a time, which doubles
// each time it goes on. Not thread-safe.
class NetworkPace {
 public:
  static constexpr absl::Duration kTurnEvery = absl::Milliseconds(10);
  static constexpr int kTurnsAtOnce = 4;
  static constexpr absl::Duration kShortestShun = absl::Seconds(1);
  // A client that tries again is served within 5 s after its network's flood.
  static constexpr absl::Duration kLongestShun = absl::Seconds(4);

  // Takes the network's next turn. False: it has none yet.
  bool TakeTurn(const Network& network, SteadyTime now);
  void Shun(const Network& network, SteadyTime now);
  bool IsShunned(const Network& network, SteadyTime now) const;
  // Forgets networks of which nothing matters any more. To be called now and then.
  void Forget(SteadyTime now);

 private:
  struct State {
    SteadyTime next_turn;
    SteadyTime shunned_until;
    absl::Duration shun = absl::ZeroDuration();  // how long the last one was
  };

  absl::flat_hash_map<Network, State> networks_;
};

}  // namespace telemetry::net
