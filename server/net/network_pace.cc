#include "server/net/network_pace.h"

#include <algorithm>

namespace telemetry::net {
namespace {

SteadyTime Later(SteadyTime time, absl::Duration duration) { return time + absl::ToChronoNanoseconds(duration); }

}  // namespace

NetworkPace::Turn NetworkPace::TakeTurn(const Network& network, SteadyTime now) {
  State& state = networks_[network];
  if (now < state.shunned_until) return Turn::kNever;
  const bool flooded = now < Later(state.shunned_until, kRemember);
  const SteadyTime latest = flooded ? now : Later(now, (kTurnsAtOnce - 1) * kTurnEvery);
  if (state.next_turn > latest) return flooded ? Turn::kNever : Turn::kLater;
  state.next_turn = Later(std::max(state.next_turn, now), flooded ? kSlowTurnEvery : kTurnEvery);
  return Turn::kNow;
}

void NetworkPace::Shun(const Network& network, SteadyTime now) {
  State& state = networks_[network];
  if (now < state.shunned_until) return;
  const bool goes_on = now < Later(state.shunned_until, kRemember);
  state.shun = goes_on ? std::clamp(2 * state.shun, kShortestShun, kLongestShun) : kShortestShun;
  state.shunned_until = Later(now, state.shun);
}

bool NetworkPace::IsShunned(const Network& network, SteadyTime now) const {
  const auto found = networks_.find(network);
  return found != networks_.end() && now < found->second.shunned_until;
}

void NetworkPace::Forget(SteadyTime now) {
  absl::erase_if(networks_, [now](const auto& entry) {
    return entry.second.next_turn <= now && Later(entry.second.shunned_until, kRemember) <= now;
  });
}

}  // namespace telemetry::net
