#include "server/net/storm_filter.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <vector>

#include "server/net/listener.h"
#include "server/net/socket.h"

namespace telemetry::net {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

SteadyTime At(absl::Duration time) { return SteadyTime() + absl::ToChronoNanoseconds(time); }

sockaddr_storage AddressOf(const std::string& text, int port = 0) {
  sockaddr_storage address = {};
  auto& v4 = reinterpret_cast<sockaddr_in&>(address);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address);
  if (inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(static_cast<uint16_t>(port));
  } else if (inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(static_cast<uint16_t>(port));
  }
  return address;
}

Network NetworkOf(const std::string& text) { return Network::Of(AddressOf(text)); }

socklen_t SizeOf(const sockaddr_storage& address) {
  return address.ss_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
}

bool CountResets(StormFilter& filter, const Network& network, int count, SteadyTime now) {
  bool has_changed = false;
  for (int i = 0; i < count; ++i) has_changed |= filter.CountReset(network, now);
  return has_changed;
}

TEST(StormFilterTest, DropsANetworkWithManyResetsForAMoment) {
  StormFilter filter;
  const Network storm = NetworkOf("192.0.2.1");
  const SteadyTime begin = At(absl::ZeroDuration());
  EXPECT_FALSE(CountResets(filter, storm, StormFilter::kResets - 1, begin));
  EXPECT_FALSE(CountResets(filter, NetworkOf("192.0.2.2"), 1, begin));
  EXPECT_TRUE(CountResets(filter, storm, 1, begin));
  EXPECT_THAT(filter.dropped(), ElementsAre(storm));
  // Connections that the kernel had queued.
  EXPECT_FALSE(CountResets(filter, storm, 1000, begin));
  EXPECT_FALSE(filter.Expire(begin + absl::ToChronoNanoseconds(StormFilter::kDropFor / 2)));
  EXPECT_TRUE(filter.Expire(begin + absl::ToChronoNanoseconds(StormFilter::kDropFor)));
  EXPECT_THAT(filter.dropped(), IsEmpty());
  EXPECT_EQ(filter.next_expiry(), kNever);
}

TEST(StormFilterTest, AFewResetsAtATimeAreNoStorm) {
  StormFilter filter;
  const Network network = NetworkOf("2001:db8::1");
  for (int round = 0; round < 100; ++round) {
    EXPECT_FALSE(CountResets(filter, network, StormFilter::kResets - 1, At(round * StormFilter::kWindow)));
  }
}

TEST(StormFilterTest, DropsALimitedNumberOfNetworks) {
  StormFilter filter;
  for (uint32_t i = 0; i < StormFilter::kMostDropped + 10; ++i) {
    sockaddr_storage address = {};
    auto& v4 = reinterpret_cast<sockaddr_in&>(address);
    v4.sin_family = AF_INET;
    v4.sin_addr.s_addr = htonl(0x0a000000 + i);
    CountResets(filter, Network::Of(address), StormFilter::kResets, At(absl::ZeroDuration()));
  }
  EXPECT_EQ(filter.dropped().size(), StormFilter::kMostDropped);
}

// Returns true if a connection from the first address to the listener is accepted within `patience`.
bool Connects(const std::string& from, const std::string& to, const Listener& listener, int patience_ms) {
  const sockaddr_storage source = AddressOf(from);
  const sockaddr_storage target = AddressOf(to, listener.port());
  const Socket socket(::socket(source.ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0));
  if (bind(socket.fd(), reinterpret_cast<const sockaddr*>(&source), SizeOf(source)) != 0) return false;
  if (connect(socket.fd(), reinterpret_cast<const sockaddr*>(&target), SizeOf(target)) != 0 && errno != EINPROGRESS) {
    return false;
  }
  pollfd poll_fd = {.fd = listener.fd(), .events = POLLIN};
  if (poll(&poll_fd, 1, patience_ms) != 1) return false;
  return Socket(accept(listener.fd(), nullptr, nullptr)).is_open();
}

std::vector<Network> Many(const std::string& last) {
  std::vector<Network> networks;
  for (int i = 1; i < static_cast<int>(StormFilter::kMostDropped); ++i) {
    networks.push_back(
        NetworkOf((i % 2 == 0 ? "10.0.0." : "2001:db8:0:") + std::to_string(i % 250 + 1) + (i % 2 == 0 ? "" : "::")));
  }
  networks.push_back(NetworkOf(last));
  return networks;
}

class DropPacketsTest : public testing::Test {
 protected:
  // Long enough for a connection on a busy machine, and short for one that never comes. A wrong answer of the kernel
  // would come at once.
  static constexpr int kLong = 60'000;
  static constexpr int kShort = 50;

  static Listener Listen(const std::string& address) { return *Listener::Open(AddressOf(address), {}); }
};

TEST_F(DropPacketsTest, ConnectionsOfOtherNetworksBegin) {
  const Listener listener = Listen("127.0.0.1");
  ASSERT_TRUE(DropPackets(listener.fd(), Many("127.0.0.2")));
  EXPECT_FALSE(Connects("127.0.0.2", "127.0.0.1", listener, kShort));
  EXPECT_TRUE(Connects("127.0.0.3", "127.0.0.1", listener, kLong));
  ASSERT_TRUE(DropPackets(listener.fd(), {}));
  EXPECT_TRUE(Connects("127.0.0.2", "127.0.0.1", listener, kLong));
}

TEST_F(DropPacketsTest, IPv6AndIPv4ComeToOneSocket) {
  const Socket probe(::socket(AF_INET6, SOCK_STREAM, 0));
  const sockaddr_storage loopback = AddressOf("::1");
  if (bind(probe.fd(), reinterpret_cast<const sockaddr*>(&loopback), SizeOf(loopback)) != 0) {
    GTEST_SKIP() << "this machine has no IPv6";
  }
  const Listener listener = Listen("::");
  ASSERT_TRUE(DropPackets(listener.fd(), Many("::1")));
  EXPECT_FALSE(Connects("::1", "::1", listener, kShort));
  EXPECT_TRUE(Connects("127.0.0.3", "127.0.0.1", listener, kLong));
  const Listener other = Listen("::");
  ASSERT_TRUE(DropPackets(other.fd(), Many("127.0.0.2")));
  EXPECT_FALSE(Connects("127.0.0.2", "127.0.0.1", other, kShort));
  EXPECT_TRUE(Connects("127.0.0.3", "127.0.0.1", other, kLong));
  EXPECT_TRUE(Connects("::1", "::1", other, kLong));
}

}  // namespace
}  // namespace telemetry::net
