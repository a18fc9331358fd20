#include "server/net/listener.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace telemetry::net {
namespace {

// Connects over IPv4 or IPv6 on loopback. Returns true on success.
bool Connects(sa_family_t family, int port) {
  const Socket socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(port))};
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(static_cast<uint16_t>(port))};
  v6.sin6_addr = in6addr_loopback;
  if (family == AF_INET) return connect(socket.fd(), reinterpret_cast<sockaddr*>(&v4), sizeof(v4)) == 0;
  return connect(socket.fd(), reinterpret_cast<sockaddr*>(&v6), sizeof(v6)) == 0;
}

// Returns true if the machine has IPv6.
bool HasIpv6() { return ListenAt("[::1]:0", {}).ok(); }

TEST(ListenAt, TakesAFreePortAndTellsIt) {
  const auto listeners = ListenAt("127.0.0.1:0", {});
  ASSERT_TRUE(listeners.ok()) << listeners.status();
  ASSERT_EQ(listeners->size(), 1);
  EXPECT_GT(listeners->at(0).port(), 0);
  EXPECT_TRUE(listeners->at(0).IsListening());
  EXPECT_TRUE(Connects(AF_INET, listeners->at(0).port()));
}

TEST(ListenAt, TakesTheSamePortForEachAddressOfAHost) {
  const auto listeners = ListenAt("localhost:0", {});
  ASSERT_TRUE(listeners.ok()) << listeners.status();
  for (const Listener& listener : *listeners) EXPECT_EQ(listener.port(), listeners->at(0).port());
}

TEST(ListenAt, ListensAtEveryAddress) {
  for (const char* address : {"0.0.0.0:0", "[::]:0"}) {
    const auto listeners = ListenAt(address, {});
    ASSERT_TRUE(listeners.ok()) << listeners.status();
    EXPECT_TRUE(Connects(AF_INET, listeners->at(0).port())) << address;
    EXPECT_TRUE(!HasIpv6() || Connects(AF_INET6, listeners->at(0).port())) << address;
  }
}

TEST(ListenAt, RefusesATakenPortAndAHostThatIsElsewhere) {
  const auto first = ListenAt("127.0.0.1:0", {});
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = ListenAt(absl::StrCat("127.0.0.1:", first->at(0).port()), {});
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
  for (const char* address : {"192.0.2.1:0", "no-such-host.invalid:0", "127.0.0.1", ""}) {
    const auto elsewhere = ListenAt(address, {});
    EXPECT_TRUE(absl::IsUnavailable(elsewhere.status())) << address << ": " << elsewhere.status();
  }
}

TEST(Listener, OpensAgainAtTheSamePort) {
  auto listeners = ListenAt("127.0.0.1:0", {});
  ASSERT_TRUE(listeners.ok()) << listeners.status();
  Listener& listener = listeners->at(0);
  const int port = listener.port();
  ASSERT_EQ(shutdown(listener.fd(), SHUT_RDWR), 0);
  EXPECT_FALSE(listener.IsListening());
  EXPECT_FALSE(Connects(AF_INET, port));
  EXPECT_TRUE(listener.Reopen().ok());
  EXPECT_EQ(listener.port(), port);
  EXPECT_TRUE(Connects(AF_INET, port));
}

TEST(Listener, DoesNotTakeAnotherFileForItsSocket) {
  auto listeners = ListenAt("127.0.0.1:0", {});
  auto others = ListenAt("127.0.0.1:0", {});
  ASSERT_TRUE(listeners.ok() && others.ok());
  Listener& listener = listeners->at(0);
  const int number = listener.fd();
  ASSERT_EQ(dup2(others->at(0).fd(), number), number);
  EXPECT_FALSE(listener.IsListening());
  EXPECT_TRUE(listener.Reopen().ok());
  EXPECT_TRUE(ReadFileId(number)) << "the file that now has the number is not closed";
  Socket(number).Close();
}

}  // namespace
}  // namespace telemetry::net
