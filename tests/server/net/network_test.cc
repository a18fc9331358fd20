#include "server/net/network.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

namespace telemetry::net {
namespace {

Network Of(const char* text) {
  sockaddr_storage address = {};
  auto& v4 = reinterpret_cast<sockaddr_in&>(address);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address);
  if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
    address.ss_family = AF_INET;
  } else if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) {
    address.ss_family = AF_INET6;
  }
  return Network::Of(address);
}

TEST(Network, IsAnIpv4Address) {
  EXPECT_EQ(Of("192.0.2.7").ToString(), "192.0.2.7");
  EXPECT_EQ(Of("192.0.2.7"), Of("192.0.2.7"));
  EXPECT_NE(Of("192.0.2.7"), Of("192.0.2.8"));
  EXPECT_EQ(Of("192.0.2.7"), Of("::ffff:192.0.2.7")) << "over an IPv6 socket";
}

TEST(Network, IsASlash64OfIpv6) {
  EXPECT_EQ(Of("2001:db8:1:2:3:4:5:6").ToString(), "2001:db8:1:2::/64");
  EXPECT_EQ(Of("2001:db8:1:2::1"), Of("2001:db8:1:2:ffff::9"));
  EXPECT_NE(Of("2001:db8:1:2::1"), Of("2001:db8:1:3::1"));
  EXPECT_NE(Of("c000:207::1"), Of("192.0.2.7"));
}

TEST(Network, IsUnknownOtherwise) { EXPECT_EQ(Network::Of({}).ToString(), "unknown"); }

}  // namespace
}  // namespace telemetry::net
