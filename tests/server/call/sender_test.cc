#include "server/call/sender.h"

#include <gtest/gtest.h>

#include "server/call/sender_shares.h"

namespace telemetry::collector {
namespace {

TEST(Sender, IsATokensNameOrTheNetworkOfAnAddress) {
  EXPECT_EQ(call::SenderName({.peer = "ipv4:192.0.2.7:4711", .name = "ci"}), "token ci");
  EXPECT_EQ(call::SenderName({.peer = "ipv4:192.0.2.7:4711"}), "192.0.2.7");
  EXPECT_EQ(call::NetworkOfPeer("ipv6:%5B2001:db8::1%5D:4711"), call::NetworkOfPeer("ipv6:[2001:db8::2]:4712"));
  EXPECT_NE(call::NetworkOfPeer("ipv6:%5B2001:db8::1%5D:4711"), call::NetworkOfPeer("ipv6:%5B2001:db8:0:1::1%5D:4711"));
  EXPECT_EQ(call::NetworkOfPeer("ipv6:%5B::ffff:192.0.2.7%5D:4711"), "192.0.2.7");
  EXPECT_EQ(call::NetworkOfPeer("inproc"), "inproc");
  EXPECT_EQ(call::NetworkOfPeer(""), "");
}

TEST(SenderShares, ASenderHasHalf) {
  call::SenderShares shares(4);
  EXPECT_TRUE(shares.TryTake("a", 1));
  EXPECT_TRUE(shares.TryTake("a", 1));
  EXPECT_FALSE(shares.TryTake("a", 1));
  EXPECT_TRUE(shares.TryTake("b", 2));
  EXPECT_FALSE(shares.TryTake("c", 1)) << "the total limit is reached";
  shares.Release("a", 1);
  EXPECT_TRUE(shares.TryTake("c", 1));
}

TEST(SenderShares, WhoHoldsNothingGetsMoreThanItsShare) {
  call::SenderShares shares(10);
  EXPECT_TRUE(shares.TryTake("a", 20)) << "no sender holds anything";
  EXPECT_FALSE(shares.TryTake("b", 1));
  shares.Release("a", 20);
  EXPECT_TRUE(shares.TryTake("b", 1));
  EXPECT_TRUE(shares.TryTake("a", 9));
  EXPECT_FALSE(shares.TryTake("a", 1));
}

}  // namespace
}  // namespace telemetry::collector
