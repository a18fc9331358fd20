#include "server/net/network_pace.h"

#include <gtest/gtest.h>

namespace telemetry::net {
namespace {

Network Host(uint8_t last) {
  sockaddr_storage address = {};
  auto& v4 = reinterpret_cast<sockaddr_in&>(address);
  v4.sin_family = AF_INET;
  v4.sin_addr.s_addr = htonl(0xc0000200u + last);
  return Network::Of(address);
}

using Turn = NetworkPace::Turn;

class NetworkPaceTest : public ::testing::Test {
 protected:
  int TakeTurns(const Network& network) {
    int turns = 0;
    while (pace_.TakeTurn(network, now_) == Turn::kNow) ++turns;
    return turns;
  }
  void Pass(absl::Duration time) { now_ += absl::ToChronoNanoseconds(time); }
  // Returns for how many seconds from now the network is shunned.
  int ShunnedS(const Network& network) {
    int seconds = 0;
    for (; pace_.IsShunned(network, now_); ++seconds) Pass(absl::Seconds(1));
    return seconds;
  }

  NetworkPace pace_;
  SteadyTime now_ = SteadyNow();
};

TEST_F(NetworkPaceTest, ANetworkHasAFewTurnsAtOnceAndThenOneAtATime) {
  EXPECT_EQ(TakeTurns(Host(1)), NetworkPace::kTurnsAtOnce);
  EXPECT_EQ(TakeTurns(Host(2)), NetworkPace::kTurnsAtOnce);
  Pass(NetworkPace::kTurnEvery);
  EXPECT_EQ(TakeTurns(Host(1)), 1);
  Pass(absl::Seconds(1));
  EXPECT_EQ(TakeTurns(Host(1)), NetworkPace::kTurnsAtOnce);
}

TEST_F(NetworkPaceTest, ANetworkThatGoesOnFloodingIsShunnedForLonger) {
  for (const int seconds : {1, 2, 4, 4}) {
    pace_.Shun(Host(1), now_);
    pace_.Shun(Host(1), now_);  // another connection of the same flood
    EXPECT_FALSE(pace_.IsShunned(Host(2), now_));
    EXPECT_EQ(ShunnedS(Host(1)), seconds);
  }
  Pass(absl::Seconds(11));
  pace_.Shun(Host(1), now_);
  EXPECT_EQ(ShunnedS(Host(1)), 1);
}

TEST_F(NetworkPaceTest, ANetworkThatFloodedHasFewTurnsAndNoneOfItsConnectionsWaits) {
  pace_.Shun(Host(1), now_);
  EXPECT_EQ(pace_.TakeTurn(Host(1), now_), Turn::kNever);
  Pass(NetworkPace::kShortestShun);
  EXPECT_EQ(TakeTurns(Host(1)), 1);
  EXPECT_EQ(pace_.TakeTurn(Host(1), now_), Turn::kNever);
  Pass(NetworkPace::kTurnEvery);
  EXPECT_EQ(pace_.TakeTurn(Host(1), now_), Turn::kNever);
  Pass(NetworkPace::kSlowTurnEvery);
  EXPECT_EQ(TakeTurns(Host(1)), 1);
  Pass(NetworkPace::kRemember);
  EXPECT_EQ(TakeTurns(Host(1)), NetworkPace::kTurnsAtOnce);
}

TEST_F(NetworkPaceTest, ForgettingChangesNothing) {
  TakeTurns(Host(1));
  pace_.Shun(Host(2), now_);
  pace_.Forget(now_);
  EXPECT_EQ(pace_.TakeTurn(Host(1), now_), Turn::kLater);
  EXPECT_EQ(ShunnedS(Host(2)), 1);
  pace_.Forget(now_);
  pace_.Shun(Host(2), now_);
  EXPECT_EQ(ShunnedS(Host(2)), 2);
}

}  // namespace
}  // namespace telemetry::net
