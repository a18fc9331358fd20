#include "server/commands/listen_address.h"

#include <gtest/gtest.h>

namespace telemetry::commands {
namespace {

TEST(ListenAddress, IsAHostAndAPort) {
  for (const char* address : {"127.0.0.1:4747", "0.0.0.0:0", "localhost:65535", "ci-host_1.lan:80", "[::1]:4747"}) {
    EXPECT_TRUE(IsListenAddress(address)) << address;
  }
}

TEST(ListenAddress, IsNothingElse) {
  for (const char* address : {"", ":", "127.0.0.1", "127.0.0.1:", ":4747", "127.0.0.1:99999", "127.0.0.1:65536",
                              "127.0.0.1:http", "127.0.0.1:-1", "127.0.0.1: 80", "host:4294967376", "unix:/p",
                              "unix:/p:80", "dns:///host:80", "::1:4747", "[]:80", "[::1:80", "a b:80"}) {
    EXPECT_FALSE(IsListenAddress(address)) << address;
  }
}

}  // namespace
}  // namespace telemetry::commands
