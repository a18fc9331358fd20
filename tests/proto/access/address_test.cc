#include "proto/access/address.h"

#include <gtest/gtest.h>

namespace telemetry::access {
namespace {

TEST(Address, StaysOnThisMachine) {
  for (const char* address :
       {"127.0.0.1:4747", "127.1.2.3:0", "localhost:4747", "[::1]:4747", "unix:/run/collector.sock", "unix:x"}) {
    EXPECT_TRUE(StaysOnThisMachine(address)) << address;
  }
}

TEST(Address, OrDoesNot) {
  for (const char* address : {"0.0.0.0:4747", "[::]:4747", "10.0.0.1:4747", "127.0.0.1.example.org:80", "127.evil:80",
                              "localhost.example.org:80", "collector:4747", "[::2]:4747", "", ":4747"}) {
    EXPECT_FALSE(StaysOnThisMachine(address)) << address;
  }
}

}  // namespace
}  // namespace telemetry::access
